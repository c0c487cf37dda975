"""Dynamic situations: what is hit, how, and how the body answers; read from and written to TOML."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .errors import SituationError
from .pose import Envelope

FOLDER = Path(__file__).parent / "situations"


@dataclass(frozen=True)
class BoneSetting:
    """What a situation says about one bone; None leaves the general value.

    angle: [deg] of the bone's axis of rotation about its link, see `links.axis`.  velocity: [deg/s] about it, times `multiplier`.
    mass: [kg] of the canonical 75 kg body.  frequency [Hz], ratio: of the muscle.  weight: 0..1, part of the reaction that shows.
    """

    angle: float = 90.0
    velocity: float = 0.0
    multiplier: float = 1.0
    mass: float | None = None
    frequency: float | None = None
    ratio: float | None = None
    weight: float = 1.0
    simulated: bool | None = None


@dataclass(frozen=True)
class Situation:
    """A dynamic situation on the canonical body (1.75 m, 75 kg).

    hit: roles that can take the blow, the first one the rig has is taken.  along: 0 at its head, 1 at its end.
    direction: of the blow, [left, forward, up] of the figure.  impulse: [N s].  contact: [s].
    drive: "impulse" (the blow is a force) or "velocities" (the document's initial velocities of `bones`).
    simulate: roles that move by themselves; support: roles that give way below them, left out where the rig forbids it.
    frequency [Hz], ratio: of all muscles.  tone: factor on them at impact, back to 1 over `recovery` [s].
    share: 0..1 of the clip's own torque and weight that stays carried.
    """

    name: str
    hit: tuple[str, ...]
    direction: tuple[float, float, float]
    impulse: float
    along: float = 0.5
    contact: float = 0.05
    drive: str = "impulse"
    simulate: tuple[str, ...] = ("spine", "neck", "head", "clavicle", "upper_arm", "forearm", "hand")
    support: tuple[str, ...] = ("pelvis", "thigh", "shin", "foot")
    loose: tuple[str, ...] = ()
    frequency: float = 1.6
    ratio: float = 0.65
    tone: float = 0.35
    recovery: float = 0.8
    share: float = 1.0
    base_frequency: float = 1.2
    envelope: Envelope = field(default_factory=Envelope)
    bones: Mapping[str, BoneSetting] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for name, low, high in (
            ("contact", 1e-3, 2.0),
            ("frequency", 0.0, 200.0),
            ("ratio", 0.0, 100.0),
            ("tone", 0.0, 10.0),
            ("recovery", 0.0, 60.0),
            ("share", 0.0, 1.0),
            ("base_frequency", 0.0, 200.0),
            ("impulse", -1e6, 1e6),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise SituationError(f"Situation '{self.name}': {name} is {value}. Give it {low:g} to {high:g}.")
        if self.drive not in ("impulse", "velocities"):
            raise SituationError(f"Situation '{self.name}': drive '{self.drive}' is unknown. Use 'impulse' or 'velocities'.")
        if not sum(x * x for x in self.direction) > 0.0:
            raise SituationError(f"Situation '{self.name}': the direction has no length. Give it one that points somewhere.")

    def with_changes(self, **changes: Any) -> "Situation":
        """A copy with some values changed."""
        return replace(self, **changes)


def load(path: Path) -> Situation:
    """Read a situation; SituationError naming the file and the entry that is wrong."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SituationError(f"Situation file '{path}' cannot be read: {error.strerror}. Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SituationError(f"Situation file '{path}' is not valid TOML: {error}. Correct that line.") from None
    return from_table(table, str(path))


def from_table(table: dict[str, Any], source: str) -> Situation:
    """A situation from a TOML table; `source` is named in errors."""
    table = dict(table)
    bones = {role: _build(BoneSetting, entry, f"{source}, [bones.\"{role}\"]") for role, entry in table.pop("bones", {}).items()}
    envelope = _build(Envelope, table.pop("envelope", {}), f"{source}, [envelope]")
    lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    return _build(Situation, {**table, **lists, "bones": MappingProxyType(bones), "envelope": envelope}, source)


def _build(kind: type, entry: dict[str, Any], source: str) -> Any:
    """A dataclass from a table, refusing unknown keys and missing ones by name."""
    known = {f.name for f in fields(kind)}
    unknown = sorted(set(entry) - known)
    if unknown:
        raise SituationError(f"{source}: '{unknown[0]}' is unknown. Use one of {', '.join(sorted(known))}.")
    try:
        return kind(**entry)
    except TypeError as error:
        raise SituationError(f"{source}: {error}. Correct that entry.") from None


def dump(situation: Situation) -> str:
    """The situation as TOML text that `load` reads back to an equal one."""
    plain = {f.name: getattr(situation, f.name) for f in fields(Situation)}
    bones, envelope = plain.pop("bones"), plain.pop("envelope")
    lines = [f"{key} = {_toml(value)}" for key, value in plain.items()]
    lines += ["", "[envelope]", *(f"{key} = {_toml(value)}" for key, value in asdict(envelope).items())]
    for role, setting in bones.items():
        said = {key: value for key, value in asdict(setting).items() if value is not None}
        lines += ["", f"[bones.{_toml(role)}]", *(f"{key} = {_toml(value)}" for key, value in said.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return repr(float(value)) if isinstance(value, float) else str(value)


def presets() -> tuple[str, ...]:
    """Names of the built-in situations."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def named(name: str) -> Situation:
    """A built-in situation by name, or one from a TOML file by path."""
    if name in presets():
        return load(FOLDER / f"{name}.toml")
    if name.endswith(".toml") or Path(name).is_file():
        return load(Path(name))
    raise SituationError(f"There is no situation '{name}'. Use one of {', '.join(presets())}, or a .toml file.")
