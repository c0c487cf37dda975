"""A reaction on a control rig: values for the controls that pose the deforming bones as the simulation says."""

from dataclasses import dataclass

import numpy as np

from ..core import probing
from ..core.bodies import HEIGHT
from ..core.rotation import exp, multiply, to_matrix
from . import delta
from .channels import Target
from .puppet import Puppet, rotation

ONWARD = 0.7  # of a frame's step that the next one probably takes
CLOSE = 0.15  # [rad] from the clip, within which controls are as far away as the pose is
STILL = 1e-7  # [rad] below which the simulation leaves the clip alone
NEAR_TURN, NEAR_SHIFT = 0.5, 2e-3  # [deg], [m] off the simulated pose that are worth no word
SPAN = 0.131  # of a figure's height: what a shift must measure to be as visible as a turn of one radian


@dataclass(frozen=True, eq=False)
class Posed:
    """targets: control -> Target at the frames.  names: m watched bones.  turn: (T, m) [deg], shift: (T, m) [m on a
    figure of 1.75 m] that they are off the simulated pose."""

    targets: dict[str, Target]
    names: tuple[str, ...]
    turn: np.ndarray
    shift: np.ndarray

    @property
    def doubts(self):
        """A sentence on every bone that its controls don't bring near enough."""
        text = "Bone '{}' is up to {:.1f} degrees and {:.0f} mm off the simulated pose: its controls reach no further."
        worst = zip(self.names, self.turn.max(axis=0), self.shift.max(axis=0), strict=True)
        return [text.format(n, turn, 1e3 * shift) for n, turn, shift in worst if turn > NEAR_TURN or shift > NEAR_SHIFT]


def pose(context, armature, found, size, channels, clip, wanted):
    """A generator: yields progress 0..1, returns a Posed.

    found: controls.Found.  size: the figure's height [rig units].  channels: of all bones, at the T frames.
    clip, wanted: (q (T, m, 4), p (T, m, 3)) of the watched bones in armature space.
    """
    frames, length = channels.frames, SPAN * size
    x, left = np.zeros((len(frames), len(found.cost))), np.zeros((len(frames), 6 * len(found.names)))
    held = probing.rows(found.firm).T
    bent = found.reach & ~found.firm
    groups = probing.colours(bent)
    with Puppet(context, armature, found.names, length) as puppet:
        puppet.use(found.blocks)

        def refresh(at, shown):
            return probing.jacobian(puppet.show, at, shown, length, groups, bent, carried(at, shown))

        def carry(known, at, shown):
            return np.where(held, carried(at, shown), known)

        def carried(at, shown):
            return held * probing.carried(*puppet.motions(at, shown[2]), shown, length)

        counted = np.tile(np.repeat([name not in found.unreached for name in found.names], 3), 2).astype(float)
        moves = probing.rows(bent).T
        solver = probing.Solver(puppet.show, refresh, carry, length, found.cost, counted, moves, found.effect)
        before = 0.0
        for k, frame in enumerate(frames):
            start, goal = ((to_matrix(q[k]), p[k]) for q, p in (clip, wanted))
            away = float(np.abs(probing.difference(start, goal, length)).max())
            if away > STILL:
                puppet.at(float(frame), channels, k)
                x[k], left[k] = solver.solve(goal, _expected(x[:k], away, before))
            before = away
            yield (k + 1.0) / len(frames)
    targets = _targets(puppet, x, channels)
    off = left.reshape(len(frames), 2, -1, 3)
    turn, shift = np.linalg.norm(off, axis=-1).swapaxes(0, 1)
    return Posed(targets, found.names, np.degrees(turn), shift * SPAN * HEIGHT)


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
            turns[block.bone] = delta.euler_to_quaternion(channels.modes[i], angles)
    return {name: Target(turns.get(name), shifts.get(name)) for name in dict.fromkeys([*turns, *shifts])}
