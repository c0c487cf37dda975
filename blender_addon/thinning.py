"""Fewer keys on controls: how far the bones are off that constraints move by them is measured on the layer itself."""

from contextlib import nullcontext

import numpy as np

from ..core.rotation import angle, from_matrix, orthonormal
from . import layer, muting, sampling

MOST = 0.95  # part of a tolerance that is used: the error may be a little larger between two looks
FULL = 0.9  # part of a tolerance from which on keys come back
LOOKS = np.arange(4) / 4  # of the way from a key to the next, at which bones are looked at: cubics swing out between


def thinned(context, armature, skeleton, movers, frames, bake, tolerance, over="", warnings=None):
    """Bake with as few keys as leave all bones of a skeleton within the tolerance [deg]; the layer's name.

    What controls are off adds up in the bones as constraints have it: so that is measured on the layer, at the frames
    and between them, and where it is too much the controls that move the bone get their keys back; a key at every frame
    where that helps no more.  movers: bone (its row) -> names of those controls.  bake: see `layer.apply`.  over: the
    reaction it replaces, mute while this is measured.  warnings: gets a bone that needed all keys.  An exception leaves
    no layer behind.
    """
    replaced = armature.parametric_dynamics_reactions.get(over)
    alone = nullcontext() if replaced is None else muting.without(context, armature, replaced)
    looks = np.append((frames[:-1, None] + np.diff(frames)[:, None] * LOOKS).ravel(), frames[-1])

    def shown():
        with alone:
            matrices, _, _ = sampling.sample_scene(context, armature, skeleton, looks)
        return from_matrix(orthonormal(matrices[..., :3, :3]))

    name, own = bake(), {}
    try:
        full = shown()
        while True:
            layer.remove(context, armature, name)
            name = bake(key_tolerance=tolerance, keep_own={control: sorted(at) for control, at in own.items()})
            off = np.degrees(angle(full, shown()))
            if off.max() <= MOST * tolerance:
                return name
            if not _give_back(own, movers, frames, off, FULL * tolerance):
                break
        layer.remove(context, armature, name)
        name = bake()
    except Exception:
        if name in armature.parametric_dynamics_reactions:
            layer.remove(context, armature, name)
        raise
    if warnings is not None:
        bone = skeleton.names[int(off.max(axis=0).argmax())]
        warnings.append("Fewer keys would leave '{}' {:.1f}° off: every frame has its key.".format(bone, off.max()))
    return name


def _give_back(own, movers, frames, off, most):
    """Add frames to those of the controls of bones that are off (looks, n) by more; whether any is new.

    The frame next to each peak; where controls have those already, all beside a look that is missed.
    """
    count = sum(map(len, own.values()))
    around = np.pad(off, ((1, 1), (0, 0)))
    peaks = (off > most) & (off >= around[:-2]) & (off >= around[2:])
    for missed, beside in ((peaks, (np.round,)), (off > most, (np.floor, np.ceil))):
        for look, bone in np.argwhere(missed):
            near = [float(frames[int(side(look / len(LOOKS)))]) for side in beside]
            for control in movers(bone):
                own.setdefault(control, set()).update(near)
        if sum(map(len, own.values())) > count:
            return True
    return False
