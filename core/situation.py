"""Dynamic situations: what is hit, how, and how the body answers; read from and written to TOML."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from . import curve, document, library
from . import ranges as legal
from .curve import Points, Value
from .errors import SituationError
from .pose import Envelope
from .roles import ROLES
from .tables import are_numbers, build, checked, literal, read_toml

ENDS = ("return", "continue", "stay")
FOLDER = Path(__file__).parent / "situations"


@dataclass(frozen=True)
class BoneSetting:
    """What a situation says about one bone; None leaves the general value.

    angle: [deg] of the bone's axis of rotation about its link, see `links.axis`.  velocity: [deg/s] about it, times
    `multiplier`.
    mass: [kg] of the canonical 75 kg body.  frequency [Hz], ratio: of the muscle, or their curves over the time since
    the blow.  weight: 0..1, part of the reaction that shows.
    bone: name that goes before the role where the rig has it.  line: of the file that says so, for refusals.
    """

    angle: float = 90.0
    velocity: float = 0.0
    multiplier: float = 1.0
    mass: float | None = None
    frequency: Value | None = None
    ratio: Value | None = None
    weight: float = 1.0
    simulated: bool | None = None
    bone: str | None = None
    line: str | None = None

    def __post_init__(self) -> None:
        ranges = {"angle": (-1e6, 1e6), "velocity": (-1e5, 1e5), "multiplier": (-1e3, 1e3), "mass": (1e-6, 1e6)}
        ranges |= {"frequency": (0.0, 200.0), "ratio": (0.0, 100.0), "weight": (0.0, 1.0)}
        _check_ranges(self, ranges, "A bone's setting")


@dataclass(frozen=True)
class Situation:
    """A dynamic situation on the canonical body (1.75 m, 75 kg).

    hit: roles that can take the blow, the first one the rig has is taken.  along: 0 at its head, 1 at its end.
    direction: of the blow, [left, forward, up] of the figure.  contact: [s].
    impulse: [N s] that the real thing gives.  gain: times which the blow exaggerates that, as films do.
    foreleg: times which it gives that to an arm on which the body stands, see `meeting`.
    drive: "impulse" (the blow is a force) or "velocities" (the document's initial velocities of `bones`; legs and
    balance answer to the impulse all the same).
    simulate: roles that move by themselves; support: roles that give way below them, left out where the rig forbids it.
    frequency [Hz], ratio: of the trunk's muscles; `taper`: times which each joint further out on a limb is tauter, and
    damped more.
    base_frequency [Hz]: of the pelvis' turning, and of what holds the weight to its way.
    tone: factor on muscles' pull at impact, back to 1 over `recovery` [s]; `falloff`: part of the loss that is left
    with each joint between a muscle and the blow.
    coupled: False = the light-weight simulator, in which bones don't feel each other's motion.
    tone_curve: (time since the blow [s], factor) points instead of tone and recovery, () = none; see `curve`.
    share: 0..1 of the clip's own torque and weight that stays carried.
    frequency, ratio, base_frequency, tone and share may be curves over the time since the blow, as `tone_curve`; then
    there is no recovery.
    influence: part of the reaction that shows on the struck body, one joint away from it, two ..., the last one from
    there on; () = all of it everywhere.
    counter, whip: times which bodies above the blow turn against it, and limbs that aren't struck swing, of what the
    physics gives; see `emphasis`.  dip: times which the body sinks on a leg that gives way; see `dip`.
    shift: times which the blow moves the body as a whole off its place; see `recovery`.
    ranges: role -> legal angles [deg] instead of the usual ones; see `ranges`.
    end: "return" to the clip, "continue" with it where the body then is, or "stay" on the floor, knocked out.
    knock_out: [s] over which all muscles go limp where the body falls.
    """

    name: str
    hit: tuple[str, ...]
    direction: tuple[float, float, float]
    impulse: float
    gain: float = 1.0
    foreleg: float = 1.0
    along: float = 0.5
    contact: float = 0.05
    drive: str = "impulse"
    simulate: tuple[str, ...] = ("spine", "neck", "head", "clavicle", "upper_arm", "forearm", "hand")
    support: tuple[str, ...] = ("pelvis", "thigh", "shin", "foot")
    frequency: Value = 1.3
    ratio: Value = 0.7
    taper: float = 1.8
    tone: Value = 0.3
    falloff: float = 0.85
    recovery: float = 0.8
    share: Value = 1.0
    base_frequency: Value = 0.8
    coupled: bool = True
    end: str = "return"
    knock_out: float = 0.3
    tone_curve: Points = ()
    influence: tuple[float, ...] = ()
    counter: float = 1.0
    whip: float = 1.0
    dip: float = 1.0
    shift: float = 1.0
    envelope: Envelope = field(default_factory=Envelope)
    ranges: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))
    bones: Mapping[str, BoneSetting] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        ranges = {"contact": (1e-3, 2.0), "frequency": (0.0, 200.0), "ratio": (0.0, 100.0), "tone": (0.0, 10.0)}
        ranges |= {"taper": (0.1, 10.0), "falloff": (0.0, 1.0)}
        ranges |= {"recovery": (0.0, 60.0), "share": (0.0, 1.0), "base_frequency": (0.0, 200.0), "impulse": (-1e6, 1e6)}
        ranges |= {"along": (-10.0, 10.0), "gain": (0.0, 1000.0), "foreleg": (0.0, 100.0)}
        ranges |= {"knock_out": (0.02, 2.0), "counter": (0.0, 3.0), "whip": (0.0, 3.0)}
        ranges |= {"dip": (0.0, 3.0), "shift": (0.0, 3.0)}
        what = f"Situation '{self.name}'"
        _check_ranges(self, ranges, what)
        curve.check(self.tone_curve, f"{what}: tone_curve", 10.0)
        legal.check(self.ranges, what)
        if not all(0.0 <= part <= 1.0 for part in self.influence):
            raise SituationError(f"{what}: influence is {list(self.influence)}. Give it parts from 0 to 1.")
        for name in ("simulate", "support"):
            if wrong := next((role for role in getattr(self, name) if role not in ROLES), None):
                cure = "Use roles such as 'upper_arm', of both sides; [bones] has single ones."
                raise SituationError(f"{what}: {name} names '{wrong}', which is no role. {cure}")
        if self.end not in ENDS:
            raise SituationError(f"Situation '{self.name}': end '{self.end}' is unknown. Use one of {', '.join(ENDS)}.")
        if not self.hit:
            raise SituationError(f"Situation '{self.name}': hit names no role. Give at least one, such as \"chest\".")
        if self.drive not in ("impulse", "velocities"):
            raise SituationError(
                f"Situation '{self.name}': drive '{self.drive}' is unknown. Use 'impulse' or 'velocities'."
            )
        if not sum(x * x for x in self.direction) > 0.0:
            raise SituationError(
                f"Situation '{self.name}': the direction has no length. Give it one that points somewhere."
            )

    @property
    def tone_points(self) -> Points:
        """The tone over time where a curve says it, else ()."""
        return self.tone_curve or (() if isinstance(self.tone, (int, float)) else self.tone)

    @property
    def falls(self) -> bool:
        """Whether the body is knocked out and stays down."""
        return self.end == "stay"

    @property
    def held(self) -> bool:
        """Whether the pose that the body reaches is held while the envelope runs."""
        return self.envelope.mode == "hold" and not self.falls

    def with_changes(self, **changes: Any) -> "Situation":
        """A copy with some values changed."""
        return replace(self, **changes)


def _check_ranges(values: object, ranges: dict[str, tuple[float, float]], what: str) -> None:
    """Refuse numbers outside their range by name; None is left to its meaning."""
    for name, (low, high) in ranges.items():
        value = getattr(values, name)
        if isinstance(value, tuple):
            curve.check(value, f"{what}: {name}", high)
        elif value is not None and not low <= value <= high:
            raise SituationError(f"{what}: {name} is {value}. Give it {low:g} to {high:g}.")


def load(path: Path) -> Situation:
    """Read a situation from TOML, or from the document's text file or a folder of them; SituationError naming the file
    and the entry that is wrong."""
    if path.is_dir() or path.suffix.lower() == ".txt":
        return from_table(document.read(path), str(path))
    return from_table(read_toml(path, "Situation"), str(path))


def together(paths: Sequence[Path]) -> Situation:
    """The situation that several of the document's text files make."""
    wrong = next((path for path in paths if path.suffix.lower() != ".txt"), None)
    if wrong is not None:
        raise SituationError(f"'{wrong.name}' is a situation of its own. Choose it alone, or several .txt files.")
    return from_table(document.read_all(paths, paths[0].parent.name), str(paths[0].parent))


def from_table(table: dict[str, Any], source: str) -> Situation:
    """A situation from a TOML table; `source` is named in errors."""
    table = dict(table)
    groups = {key: table.pop(key, {}) for key in ("bones", "envelope", "ranges")}
    entries = groups["bones"]
    for key, group in (*groups.items(), *(entries.items() if isinstance(entries, dict) else ())):
        if not isinstance(group, dict):
            raise SituationError(f"{source}: '{key}' is not a table. Write it as a [section].")
    bones = {role: build(BoneSetting, entry, f"{source}, [bones.{literal(role)}]") for role, entry in entries.items()}
    envelope = build(Envelope, groups["envelope"], f"{source}, [envelope]")
    ranges = MappingProxyType({role: _angles(said, role, source) for role, said in groups["ranges"].items()})
    return build(Situation, table, source, bones=MappingProxyType(bones), envelope=envelope, ranges=ranges)


def _angles(said: Any, role: str, source: str) -> tuple[float, ...]:
    """A range of the file, one number or a list, as a tuple."""
    values = said if isinstance(said, list) else [said]
    if not are_numbers(values):
        raise SituationError(f"{source}, [ranges]: {role} = {said!r} is not an angle or a list of angles. Correct it.")
    return tuple(float(value) for value in values)


def changed(situation: Situation, entry: dict[str, Any], source: str) -> Situation:
    """A copy with the values of a table, which are checked as those of a file; envelope and ranges may give a part."""
    entry = dict(entry)
    groups = {key: entry.pop(key, {}) for key in ("envelope", "ranges")}
    if wrong := next((key for key, group in groups.items() if not isinstance(group, dict)), None):
        raise SituationError(f"{source}: '{wrong}' is not a table. Write it as a [section].")
    values = checked({f.name: f for f in fields(Situation)}, entry, source)
    try:
        if groups["envelope"]:
            known = {f.name: f for f in fields(Envelope)}
            values["envelope"] = replace(situation.envelope, **checked(known, groups["envelope"], source))
        if groups["ranges"]:
            said = {role: _angles(said, role, source) for role, said in groups["ranges"].items()}
            values["ranges"] = MappingProxyType({**situation.ranges, **said})
        return situation.with_changes(**values)
    except SituationError as error:
        raise SituationError(f"{source}: {error}") from None


def dump(situation: Situation) -> str:
    """The situation as TOML text that `load` reads back to an equal one."""
    plain = {f.name: getattr(situation, f.name) for f in fields(Situation)}
    bones, envelope, ranges = plain.pop("bones"), plain.pop("envelope"), plain.pop("ranges")
    lines = [f"{key} = {literal(value)}" for key, value in plain.items()]
    lines += ["", "[envelope]", *(f"{key} = {literal(value)}" for key, value in asdict(envelope).items())]
    lines += ["", "[ranges]", *(f"{literal(role)} = {literal(said)}" for role, said in ranges.items())]
    for role, setting in bones.items():
        said = {key: value for key, value in asdict(setting).items() if value is not None}
        lines += ["", f"[bones.{literal(role)}]", *(f"{key} = {literal(value)}" for key, value in said.items())]
    return "\n".join(lines) + "\n"


@cache
def presets() -> tuple[str, ...]:
    """Names of the built-in situations."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def everything() -> tuple[str, ...]:
    """Names of the presets and of the library."""
    return (*presets(), *library.names())


@cache
def _built_in(name: str) -> Situation:
    """A preset, or one of the library: never another one while the add-on runs."""
    if name in presets():
        return load(FOLDER / f"{name}.toml")
    return from_table(library.table(name), library.FILE.name)


def named(name: str) -> Situation:
    """A preset, one of the library by name, or a situation from a TOML file by path."""
    if name in everything():
        return _built_in(name)
    path = Path(name)
    if path.suffix.lower() in (".toml", ".txt") or path.exists():
        return load(path)
    names = ", ".join(everything())
    raise SituationError(f"There is no situation '{name}'. Use one of {names}, or a .toml or .txt file.")
