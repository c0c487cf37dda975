"""Hits as they are planned: what an animator sets on each, before a clip says where and when it lands.

A file of hits is TOML, one [[hits]] per hit; `from_entry` says what an entry may hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from . import situation as situations
from . import strength as strengths
from . import tables
from .blows import Hit
from .errors import SituationError
from .roles import base_role
from .situation import Situation
from .topology import ARM, LEG

# Keys of an entry that change its situation.
OF_SITUATION = ("impulse", "contact", "along", "drive", "end", "knock_out", "counter", "whip", "dip", "shift",
                "influence", "tone_curve", "coupled", "envelope", "ranges")  # fmt: skip
Vector = tuple[float, float, float]


@dataclass(frozen=True)
class HitSetting:
    """One planned hit; None and "" leave the situation's value.

    frame: None = a quarter into the clip, or `after` [s] later than the hit before it in the list.
    bone: name or role.  direction, origin, offset, angular, striker, gain, seed, ground: as `Hit` has them.
    strength: name of a strength; its impulse, contact time and gain.  angular: [N m s] instead of a push.
    name: for people.  enabled: whether it is part of the reaction.
    """

    situation: Situation
    frame: float | None = None
    after: float | None = None
    bone: str = ""
    direction: Vector | None = None
    offset: Vector | None = None
    angular: float | None = None
    origin: Vector | None = None
    striker: Vector | None = None
    strength: str = ""
    gain: float | None = None
    seed: int = 0
    ground: float | None = None
    name: str = ""
    enabled: bool = True

    def __post_init__(self) -> None:
        ways = {"angular": self.angular, "striker": self.striker, "strength": self.strength or None}
        given = [key for key, value in ways.items() if value is not None]
        if len(given) > 1:
            raise SituationError(f"A hit has one strength. Give {given[0]} or {given[1]}, not both.")
        if self.origin is not None and (self.striker is not None or self.angular is not None):
            raise SituationError("A blast has an impulse or a named strength. Leave striker and angular out.")
        if self.striker is not None:
            _check_striker(*self.striker)
        if self.gain is not None and not 0.0 <= self.gain <= 1000.0:
            raise SituationError(f"A hit's gain is {self.gain:g}. Give it 0 to 1000.")
        if not 0 <= self.seed < 2**31:
            raise SituationError(f"A hit's seed is {self.seed}. Give it 0 to 2147483647.")
        if self.strength:
            strengths.named(self.strength)
        if self.frame is not None and self.after is not None:
            raise SituationError("A hit has a frame or comes after the one before it. Leave one of them out.")

    @property
    def real(self) -> float:
        """[N s] that the real thing gives, where neither a striker nor a twist says it otherwise."""
        return strengths.named(self.strength).impulse if self.strength else self.situation.impulse

    @property
    def exaggerated(self) -> float:
        """The dramatic gain."""
        if self.gain is not None:
            return self.gain
        if self.strength:
            return strengths.named(self.strength).gain
        return self.situation.gain if self.striker is None and self.angular is None else 1.0

    def hit(self, frame: float) -> Hit:
        """The core's hit at a frame."""
        plain = Hit(
            frame,
            self.bone,
            None if self.direction is None else np.array(self.direction),
            offset=None if self.offset is None else np.array(self.offset),
            origin=None if self.origin is None else np.array(self.origin),
            striker=self.striker,
            gain=self.exaggerated,
            seed=self.seed,
            ground=self.ground,
        )
        if self.angular is not None:
            return replace(plain, impulse=0.0, angular=self.angular)
        if self.strength:
            named = strengths.named(self.strength)
            return replace(plain, impulse=named.impulse, mass=named.mass, contact=named.contact)
        return plain


def _check_striker(mass: float, speed: float, restitution: float) -> None:
    if not (0.0 < mass <= 1e6 and 0.0 <= speed <= 1e5 and 0.0 <= restitution <= 1.0):
        raise SituationError(
            f"A striker has {mass:g} kg, {speed:g} m/s and bounces by {restitution:g}. "
            "Give it a mass above 0, a speed from 0 on, and 0 to 1."
        )


def frames(hits: Sequence[HitSetting], default: float, fps: float) -> list[float]:
    """When each lands; default: the frame of one that says nothing."""
    out: list[float] = []
    for hit in hits:
        if hit.after is not None:
            out.append(round((out[-1] if out else default) + hit.after * fps, 6))
        else:
            out.append(default if hit.frame is None else hit.frame)
    return out


# -- files -----------------------------------------------------------------------------------------------------------


def load(path: Path) -> tuple[HitSetting, ...]:
    """The hits of a file; SituationError naming the file and the entry that is wrong."""
    table = tables.read_toml(path, "Hits")
    entries = table.get("hits")
    if set(table) != {"hits"} or not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise SituationError(f"{path}: write each hit as a [[hits]] section, and nothing else.")
    if not entries:
        raise SituationError(f"{path}: there is no hit. Add a [[hits]] section.")
    return tuple(from_entry(entry, f"{path}, hit {k}") for k, entry in enumerate(entries, 1))


def from_entry(entry: dict[str, Any], source: str) -> HitSetting:
    """A hit from its keys; `source` is named in errors.

    situation: a preset, a .toml file or all of one as a table, needed.  impulse, contact, along,
    drive, end, knock_out, counter, whip, dip, shift, influence, tone_curve, coupled, envelope, ranges: change it.
    strike: [left, forward, up] of the figure, as the situation's direction.
    striker: [kg, m/s] or [kg, m/s, restitution].  All else as the fields of `HitSetting`.
    """
    entry = dict(entry)
    named = entry.pop("situation", None)
    if not isinstance(named, (str, dict)):
        raise SituationError(f"{source}: 'situation' is missing. Name a preset or a .toml file.")
    table = {key: entry.pop(key) for key in OF_SITUATION if key in entry}
    if "strike" in entry:
        table["direction"] = entry.pop("strike")
    if isinstance(entry.get("striker"), list) and len(entry["striker"]) == 2:
        entry["striker"] = [*entry["striker"], 0.0]
    try:
        whole = situations.named(named) if isinstance(named, str) else situations.from_table(named, source)
        chosen = situations.changed(whole, table, source)
        if "impulse" in table:
            chosen = chosen.with_changes(gain=1.0, foreleg=1.0)
        made: HitSetting = tables.build(HitSetting, entry, source, situation=chosen)
    except SituationError as error:
        raise SituationError(f"{error}" if source in str(error) else f"{source}: {error}") from None
    _check_use(made, table, source)
    return made


def _answers(made: HitSetting) -> bool:
    """Whether velocities leave an answer to the blow: a leg's weight and balance do, and where a pose is held an arm
    that is told none."""
    struck = {made.bone} if made.bone else set(made.situation.hit)
    told = {role for role, bone in made.situation.bones.items() if bone.velocity * bone.multiplier}
    limp = {role for role in struck - told if base_role(role) in ARM and made.situation.held}
    return bool(limp or {base_role(role) for role in struck} & set(LEG))


def _check_use(made: HitSetting, table: dict[str, Any], source: str) -> None:
    """Refuse what would have no effect."""
    others = [f.name for f in fields(made) if f.name in ("angular", "striker", "strength")]
    taken = next((name for name in others if getattr(made, name) not in (None, "")), None)
    if "impulse" in table and taken:
        raise SituationError(f"{source}: a hit has one strength. Give impulse or {taken}, not both.")
    strong = (
        "impulse" in table or taken or made.gain is not None or made.origin or made.direction or "direction" in table
    )
    if made.situation.drive == "velocities" and strong and not _answers(made):
        raise SituationError(
            f"{source}: velocities drive this reaction, so a strength, gain, direction or blast has no effect. "
            "Leave them out."
        )
    if made.origin and (made.direction or "direction" in table):
        raise SituationError(f"{source}: a blast pushes away from its place. Leave the direction out.")


def dump(hits: Sequence[HitSetting]) -> str:
    """The hits as TOML text that `load` reads back to equal ones."""
    return "\n".join(_dumped(hit) for hit in hits)


def _dumped(hit: HitSetting) -> str:
    said = {f.name: getattr(hit, f.name) for f in fields(hit) if f.name != "situation"}
    said = {f.name: said[f.name] for f in fields(hit) if f.name in said and said[f.name] != f.default}
    preset = next((name for name in situations.presets() if situations.named(name) == hit.situation), "")
    lines = ["[[hits]]", *([f'situation = "{preset}"'] if preset else [])]
    lines += [f"{key} = {tables.literal(value)}" for key, value in said.items()]
    if not preset:
        sections = situations.dump(hit.situation).splitlines()
        lines += ["[hits.situation]", *("[hits.situation." + x[1:] if x.startswith("[") else x for x in sections)]
    return "\n".join(lines) + "\n"
