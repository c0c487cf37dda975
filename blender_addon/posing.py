"""A reaction on a control rig: values for the controls that pose the deforming bones as the simulation says."""

from dataclasses import dataclass

import numpy as np

from ..core import eulers, probing
from ..core.bodies import HEIGHT
from ..core.errors import ClipError
from ..core.reference import to_parents
from ..core.rotation import exp, multiply, to_matrix
from . import fk, leading
from .channels import Target
from .puppet import Puppet, rotation
from .sampling import BONE

ASTRAY = 6e-3  # [rad] of error from which on a frame is begun again, from the one before and from where it ended
ONWARD = 0.7  # of a frame's step that the next one probably takes
CLOSE = 0.15  # [rad] from the clip, within which controls are as far away as the pose is
STILL = 1e-7  # [rad] below which the simulation leaves the clip alone
NEAR_TURN, NEAR_SHIFT = 0.5, 2e-3  # [deg], [m] off the simulated pose that are worth no word
LOST = 0.35  # [rad] off the simulated pose, or as much of `SPAN` (20 degrees, 80 mm): what was asked isn't shown at all
SMOOTH = "Let the clip go on there without a jump or limit, hit more weakly or at another frame, or bake the rig."
MOVED = "Bone '{}' is moved by {}. Mute that, or exclude the bone from the simulation."
BAKE = (
    "Bake the clip to the bones that deform (Pose > Animation > Bake Action with Visual Keying and Clear Constraints): "
    "those fall as they are simulated."
)
LOCKED = "IK bends it with locked axes ({}), and so finds no deep fold: unlock those (Bone > Inverse Kinematics). Or "
SPAN = 0.131  # of a figure's height: what a shift must measure to be as visible as a turn of one radian


@dataclass(frozen=True, eq=False)
class Posed:
    """targets: control -> Target at the frames (T,).  names: m watched bones.  turn: (T, m) [deg], shift: (T, m) [m on
    a figure of 1.75 m] that they are off the simulated pose.  moved: bone -> what moves it against its controls."""

    targets: dict[str, Target]
    frames: np.ndarray
    names: tuple[str, ...]
    turn: np.ndarray
    shift: np.ndarray
    moved: dict[str, str]

    def doubts(self):
        """Sentences if controls don't bring every bone near enough: which is off by most, and when, and which of those
        that are off something else moves."""
        if self.turn.max(initial=0.0) <= NEAR_TURN and self.shift.max(initial=0.0) <= NEAR_SHIFT:
            return []
        off = np.maximum(self.turn / NEAR_TURN, self.shift / NEAR_SHIFT)
        k, worst = np.unravel_index(np.argmax(off), off.shape)
        others = int((off.max(axis=0) > 1.0).sum()) - 1
        text = "Bone '{}' is {:.1f} degrees and {:.0f} mm off the simulated pose at frame {:g}{}: "
        text += "its controls reach no further."
        more = ", {} others less".format(others) if others else ""
        told = [text.format(self.names[worst], self.turn[k, worst], 1e3 * self.shift[k, worst], self.frames[k], more)]
        stray = [name for name, most in zip(self.names, off.max(axis=0), strict=True) if most > 1.0]
        return told + [MOVED.format(name, self.moved[name]) for name in stray if name in self.moved]


def pose(context, armature, stages, size, parents, channels, clip, wanted, moved, loose=(), lead=None):
    """A generator: yields progress 0..1, returns a Posed.

    stages: (index of the frame from which on, controls.Found).  size: the figure's height [rig units].
    parents: (m,) the watched bone above each, or -1.  channels: of all bones, at the T frames.  clip, wanted:
    (q (T, m, 4), p (T, m, 3)) of the watched bones in armature space.  moved: bone -> what moves it against its
    controls.  loose: bones that may be anywhere.  lead: a `leading.Lead` where the body doesn't return.  ClipError
    where the controls leave a bone far from where it should be.
    """
    frames, names, length = channels.frames, stages[0][1].names, SPAN * size
    with Puppet(context, armature, names, length) as puppet:
        row = _Row(puppet, stages, channels, loose, lead)
        for k, frame in enumerate(frames):
            start, goal = ((to_matrix(q[k]), p[k]) for q, p in (clip, wanted))
            if row.solve(k, start, goal):
                off = (row.solver.counted * row.left[k]).reshape(2, -1, 3)
                if np.linalg.norm(off, axis=-1).max() > LOST:
                    own = _own([x[k] for x in wanted], off, parents, length)
                    falls = lead is not None and lead.falls
                    raise _refusal(names, frame, off, own, falls, moved, leading.locked(armature))
            yield (k + 1.0) / len(frames)
        puppet.use(row.blocks)
    targets = _targets(puppet, row.x, row.base, channels, row.written)
    off = row.left.reshape(len(frames), 2, -1, 3) * np.array([name not in loose for name in names])[:, None]
    turn, shift = np.linalg.norm(off, axis=-1).swapaxes(0, 1)
    return Posed(targets, frames, names, np.degrees(turn), shift * SPAN * HEIGHT, moved)


class _Row:
    """The frames of a reaction, solved in a row on a puppet.

    x: (T, d) values of all controls, on top of the channels `base`.  left: (T, 6 m) how far bones are off the pose.
    """

    def __init__(self, puppet, stages, channels, loose, lead):
        self.puppet, self.channels, self.loose, self.lead = puppet, channels, loose, lead
        self.begins = dict(stages)
        self.blocks = list(dict.fromkeys(block for _, found in stages for block in found.blocks))
        puppet.use(self.blocks)
        self.columns = dict(zip(self.blocks, puppet.columns, strict=True))
        frames = len(channels.frames)
        self.x, self.left = np.zeros((frames, puppet.size)), np.zeros((frames, 6 * len(stages[0][1].names)))
        self.course = None if lead is None else leading.Course(puppet, lead)
        self.base = channels if lead is None else channels.at(np.arange(frames))
        self.before = 0.0  # how far the frame before was off the clip

    @property
    def written(self):
        """Bones that get keys, whether they move the body or not."""
        if self.lead is None:
            return ()
        return tuple(dict.fromkeys([*self.lead.written, *(bone.name for bone in self.course.folded)]))

    def solve(self, k, start, goal):
        """Solve the next frame, k, of which the clip shows `start`; whether there was something to do."""
        if k in self.begins:
            self._begin(k, self.begins[k])
        puppet, course = self.puppet, self.course
        away = float(np.abs(probing.difference(start, goal, puppet.length)).max())
        over = course is not None and k >= self.lead.start
        asked = over or away > STILL
        if asked:
            self._stand(k)
            if over:
                bases = course.over(k, goal, self.x[self.lead.start - 1, self.own])
                self.x[k, self.own], self.left[k] = _over(self.solver, puppet, bases, goal)
            else:
                if course is not None:
                    puppet.stand(course.before(k, goal))
                    away = float(np.abs(probing.difference(puppet.show(), goal, puppet.length)).max())
                self.x[k, self.own], self.left[k] = _solved(self.solver, goal, self.x[:k, self.own], away, self.before)
            if course is not None:
                course.last = puppet.values(self.x[k, self.own])
                puppet.keep(self.base, k)
        self.before = away
        return asked

    def _begin(self, k, found):
        """From this frame on these controls move the body."""
        self.puppet.use(found.blocks)
        self.solver = _solver(self.puppet, found, found.effect if k == 0 else None, self.loose)
        self.own = np.concatenate([np.zeros(0, dtype=int), *(self.columns[block] for block in found.blocks)])
        if self.course is not None:
            self._stand(k)
            self.course.use(found)

    def _stand(self, k):
        """Let the rig stand as the clip has it."""
        self.puppet.at(float(self.channels.frames[k]), self.channels, k)


def _solved(solver, goal, earlier, away, before):
    """(x, left) of a frame from the x (k, d) of those before it; away, before: see `_expected`."""
    found, left = solver.solve(goal, _expected(earlier, away, before))
    for onward in (False, True, True):
        if np.abs(solver.counted * left).max() < ASTRAY:
            break
        solver.known = None
        again = solver.solve(goal, found if onward or not len(earlier) else earlier[-1])
        if np.linalg.norm(again[1]) < np.linalg.norm(left):
            found, left = again
    return found, left


def _over(solver, puppet, bases, goal):
    """(x, left) of a frame from the values, of all those given, that bring the body nearest, on which the puppet then
    stands; the first that do need no others."""
    best = None
    for values in bases:
        puppet.stand(values)
        x = np.zeros(puppet.size)
        left = probing.difference(puppet.show(), goal, puppet.length)
        if np.abs(solver.counted * left).max() > probing.TURN:
            x, left = solver.solve(goal, x)
        off = np.abs(solver.counted * left).max()
        if best is None or off < best[0]:
            best = off, x, left, values
        if best[0] < ASTRAY:
            break
        solver.known = None
    puppet.stand(best[3])
    if best[0] < ASTRAY:
        return best[1], best[2]
    again = solver.solve(goal, best[1])
    return again if np.abs(solver.counted * again[1]).max() < best[0] else (best[1], best[2])


def _own(wanted, off, parents, length):
    """(m,) how far each bone is off a pose beside the one above it: a hand that is off with its arm is not itself.

    wanted: (q (m, 4), p (m, 3)).  off: (2, m, 3) by how much the pose that is shown misses that, see `probing`.
    """
    q, p = wanted
    poses = (multiply(q, exp(-off[0])), p - length * off[1]), wanted
    shown, goal = ((to_matrix(turn), place) for turn, place in (to_parents(parents, *pose) for pose in poses))
    return np.linalg.norm(probing.difference(shown, goal, length).reshape(2, -1, 3), axis=-1).max(axis=0)


def _refusal(names, frame, off, own, falls, moved, locked):
    """Of a pose that is nowhere near, as where a clip jumps, limits are in the way, or IK doesn't fold a body that
    falls so.  Named is, of the bones far off that something else moves, or else of all, whose own joint is off by most:
    those further out are off, too, and those before it are bent to make up for it.  locked: see `leading.locked`."""
    off = np.linalg.norm(off, axis=-1)
    astray = np.flatnonzero(off.max(axis=0) > 0.5 * off.max())
    first = max([i for i in astray if names[i] in moved] or astray, key=lambda i: own[i])
    text = "The controls leave bone '{}' {:.0f} degrees and {:.0f} mm off the simulated pose at frame {:g}. "
    text = text.format(names[first], np.degrees(off[0, first]), 1e3 * SPAN * HEIGHT * off[1, first], frame)
    by, axes = moved.get(names[first]), locked.get(names[first])
    if falls and axes:
        return ClipError(text + LOCKED.format(", ".join(map(repr, axes))) + BAKE[0].lower() + BAKE[1:])
    return ClipError(text + (BAKE if falls else MOVED.format(names[first], by) if by else SMOOTH))


def _solver(puppet, found, known, loose):
    """The Solver of the controls that the puppet uses.  known: their Jacobian, None where the pose is another.  loose:
    bones that it needn't bring anywhere."""
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
        counted=probing.rows(np.array([name not in {*found.unreached, *loose} for name in found.names])).astype(float),
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


def _targets(puppet, x, channels, clip, written):
    """Control -> Target (rotation and location of its basis) with the values x (T, d) on top of channels.

    clip: channels too, of which what is left as it is gets no target; but written bones get both.
    """
    turns, shifts = {}, {}
    turned = fk.rotations(channels) if written else None
    for name in written:
        i = channels.names.index(name)
        turns[name], shifts[name] = turned[:, i], channels.location[:, i].copy()
    for block, columns in zip(puppet.blocks, puppet.columns, strict=True):
        i, value = channels.names.index(block.bone), x[:, columns]
        field = BONE[block.rna][0]
        if not np.any(value) and np.array_equal(getattr(channels, field)[:, i], getattr(clip, field)[:, i]):
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
