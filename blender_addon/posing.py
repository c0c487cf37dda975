"""A reaction on a control rig: values for the controls that pose the deforming bones as the simulation says."""

from dataclasses import dataclass

import numpy as np

from ..core import eulers, probing
from ..core.bodies import HEIGHT
from ..core.errors import ClipError
from ..core.rotation import exp, multiply, to_matrix
from .channels import Target
from .puppet import Puppet, rotation

ASTRAY = 6e-3  # [rad] of error from which on a frame is begun again, from the one before and from where it ended
ONWARD = 0.7  # of a frame's step that the next one probably takes
CLOSE = 0.15  # [rad] from the clip, within which controls are as far away as the pose is
STILL = 1e-7  # [rad] below which the simulation leaves the clip alone
NEAR_TURN, NEAR_SHIFT = 0.5, 2e-3  # [deg], [m] off the simulated pose that are worth no word
LOST = 0.35  # [rad] off the simulated pose, or as much of `SPAN` (20 degrees, 80 mm): what was asked isn't shown at all
SPAN = 0.131  # of a figure's height: what a shift must measure to be as visible as a turn of one radian


@dataclass(frozen=True, eq=False)
class Posed:
    """targets: control -> Target at the frames (T,).  names: m watched bones.  turn: (T, m) [deg], shift: (T, m) [m on
    a figure of 1.75 m] that they are off the simulated pose."""

    targets: dict[str, Target]
    frames: np.ndarray
    names: tuple[str, ...]
    turn: np.ndarray
    shift: np.ndarray

    def doubts(self, driven):
        """Sentences if controls don't bring every bone near enough: which is off by most, and when, and which of those
        that are off a driver moves.  driven: bone -> its driver."""
        if self.turn.max(initial=0.0) <= NEAR_TURN and self.shift.max(initial=0.0) <= NEAR_SHIFT:
            return []
        off = np.maximum(self.turn / NEAR_TURN, self.shift / NEAR_SHIFT)
        k, worst = np.unravel_index(np.argmax(off), off.shape)
        others = int((off.max(axis=0) > 1.0).sum()) - 1
        text = "Bone '{}' is {:.1f} degrees and {:.0f} mm off the simulated pose at frame {:g}{}: "
        text += "its controls reach no further."
        more = ", {} others less".format(others) if others else ""
        told = [text.format(self.names[worst], self.turn[k, worst], 1e3 * self.shift[k, worst], self.frames[k], more)]
        text = "Bone '{}' is moved by {}. Mute that, or exclude the bone from the simulation."
        stray = [name for name, most in zip(self.names, off.max(axis=0), strict=True) if most > 1.0]
        return told + [text.format(name, driven[name]) for name in stray if name in driven]


def pose(context, armature, stages, size, channels, clip, wanted):
    """A generator: yields progress 0..1, returns a Posed.

    stages: (index of the frame from which on, controls.Found).  size: the figure's height [rig units].
    channels: of all bones, at the T frames.  clip, wanted: (q (T, m, 4), p (T, m, 3)) of the watched bones in armature
    space.  ClipError where the controls leave a bone far from where it should be.
    """
    frames, names, length = channels.frames, stages[0][1].names, SPAN * size
    blocks = list(dict.fromkeys(block for _, found in stages for block in found.blocks))
    begins = dict(stages)
    left, before = np.zeros((len(frames), 6 * len(names))), 0.0
    with Puppet(context, armature, names, length) as puppet:
        puppet.use(blocks)
        x, all_columns = np.zeros((len(frames), puppet.size)), dict(zip(blocks, puppet.columns, strict=True))
        for k, frame in enumerate(frames):
            if k in begins:
                puppet.use(begins[k].blocks)
                solver = _solver(puppet, begins[k], begins[k].effect if k == 0 else None)
                own = np.concatenate([np.zeros(0, dtype=int), *(all_columns[block] for block in begins[k].blocks)])
            start, goal = ((to_matrix(q[k]), p[k]) for q, p in (clip, wanted))
            away = float(np.abs(probing.difference(start, goal, length)).max())
            if away > STILL:
                puppet.at(float(frame), channels, k)
                x[k, own], left[k] = solver.solve(goal, _expected(x[:k, own], away, before))
                for onward in (False, True, True):
                    if np.abs(solver.counted * left[k]).max() < ASTRAY:
                        break
                    solver.known = None
                    again = solver.solve(goal, x[k if onward else max(k - 1, 0), own])
                    if np.linalg.norm(again[1]) < np.linalg.norm(left[k]):
                        x[k, own], left[k] = again
                _require_shown(names, frame, solver.counted * left[k])
            before = away
            yield (k + 1.0) / len(frames)
        puppet.use(blocks)
    targets = _targets(puppet, x, channels)
    off = left.reshape(len(frames), 2, -1, 3)
    turn, shift = np.linalg.norm(off, axis=-1).swapaxes(0, 1)
    return Posed(targets, frames, names, np.degrees(turn), shift * SPAN * HEIGHT)


def _require_shown(names, frame, left):
    """Refuse a pose that is nowhere near, as where a clip jumps or limits are in the way."""
    off = np.linalg.norm(left.reshape(2, -1, 3), axis=-1)
    if off.max() <= LOST:
        return
    worst = int(off.max(axis=0).argmax())
    text = "The controls leave bone '{}' {:.0f} degrees and {:.0f} mm off the simulated pose at frame {:g}. Let the "
    text += "clip go on there without a jump or limit, hit more weakly or at another frame, or bake the rig."
    raise ClipError(text.format(names[worst], np.degrees(off[0, worst]), 1e3 * SPAN * HEIGHT * off[1, worst], frame))


def _solver(puppet, found, known):
    """The Solver of the controls that the puppet uses.  known: their Jacobian, None where the pose is another."""
    held, bent = probing.rows(found.firm).T, found.reach & ~found.firm
    groups = probing.colours(bent)

    def refresh(at, shown):
        return probing.jacobian(puppet.show, at, shown, puppet.length, groups, bent, carried(at, shown))

    def carry(known, at, shown):
        return np.where(held, carried(at, shown), known)

    def carried(at, shown):
        return held * probing.carried(*puppet.motions(at, shown[2]), shown, puppet.length)

    return probing.Solver(
        show=puppet.show,
        refresh=refresh,
        carry=carry,
        length=puppet.length,
        counted=probing.rows(np.array([name not in found.unreached for name in found.names])).astype(float),
        moves=probing.rows(bent).T,
        known=known,
    )


def _expected(x, away, before):
    """The next values after x (k, d): they go on, and near the clip they fade with what the pose is away from it."""
    if len(x) < 2 or before == 0.0:
        return np.zeros(x.shape[1])
    if away < CLOSE:
        return x[-1] * min(away / before, 1.0)
    return x[-1] + ONWARD * (x[-1] - x[-2])


def _targets(puppet, x, channels):
    """Control -> Target (rotation and location of its basis) with the values x (T, d)."""
    turns, shifts = {}, {}
    for block, columns in zip(puppet.blocks, puppet.columns, strict=True):
        i, value = channels.names.index(block.bone), x[:, columns]
        if not np.any(value):
            continue
        if block.rna == "location":
            shifts[block.bone] = channels.location[:, i].copy()
            shifts[block.bone][:, list(block.axes)] += puppet.length * value
        elif block.whole:
            stored = channels.quaternion if block.rna == "rotation_quaternion" else channels.axis_angle
            turns[block.bone] = multiply(rotation(block.rna, stored[:, i]), exp(value))
        else:
            angles = channels.euler[:, i].copy()
            angles[:, list(block.axes)] += value
            turns[block.bone] = eulers.to_quaternion(channels.modes[i], angles)
    return {name: Target(turns.get(name), shifts.get(name)) for name in dict.fromkeys([*turns, *shifts])}
