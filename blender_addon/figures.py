"""What was found out about rigs, kept so that panels can show it without analysing anything while they draw."""

from dataclasses import dataclass

from . import control_rig, job, limits
from .memory import memory


@dataclass(frozen=True)
class Figure:
    """kind: "biped", "quadruped" or "other".  height: of the rig at rest [scene units].  usual: height of its kind [m].
    roles: bone name -> role.  carried: bone -> the one that carries it, see `limits.carriers`.  note: what was guessed.
    """

    kind: str
    height: float
    usual: float
    roles: dict[str, str]
    carried: dict[str, str]
    note: str


_known = memory()


def _key(armature):
    return armature.data.name_full, tuple(armature.data.bones.keys())


def known(armature):
    """The Figure of the armature if it was found out in this session and has the same bones; else None."""
    return _known.get(_key(armature))


def keep(armature, anatomy, names):
    """Remember what the anatomy says.  names: of the skeleton's bones."""
    scale = abs(armature.matrix_world.determinant()) ** (1.0 / 3.0)
    figure = Figure(
        kind=anatomy.kind,
        height=anatomy.size * scale,
        usual=job.usual_height(anatomy),
        roles={name: role for name, role in zip(names, anatomy.role, strict=True) if role},
        carried=limits.carriers(names, anatomy),
        note=anatomy.fallback,
    )
    _known[_key(armature)] = figure
    return figure


def find_out(context, armature, roles):
    """Analyse the rig and remember the result."""
    body = control_rig.read(context, armature, roles)
    return keep(armature, body.anatomy, body.skeleton.names)
