"""What a known hit should do: move the struck point, the right way, spreading, with restraint, and come to rest."""

from dataclasses import dataclass

import numpy as np

from ..dynamics import effective_inverse, kinematics
from ..model import State
from ..reference import to_joints
from ..rotation import Array, rotate
from .finding import Finding, at_most, nothing
from .joints import deviation
from .motion import RATE, Motion

SEEN = 0.4  # [s] in which a hit must show
FIRST = 0.25  # [s] in which its direction shows
ALIVE = 0.1  # part of the largest deviation that counts as still reacting
BEGUN = 0.2  # part of its largest turn from which a joint has begun to turn
VISIBLE = 0.01  # [m] that the struck point goes for its answer to have begun
NOTICED = np.radians(2.0)  # turn of a joint that takes part
HOME = np.zeros(3)


@dataclass(frozen=True, eq=False)
class Blow:
    """A known hit.  time: [s] of the clip.  body: struck body of the model.  point: (3,) on it, body frame [m].

    direction: (3,) world, unit.  impulse: [N s] on the canonical body, 0 where nobody knows it.  contact: [s].
    pushes: whether it pushes that point; else it only turns the body.
    """

    time: float
    body: int
    point: Array
    direction: Array
    impulse: float = 0.0
    contact: float = 0.05
    pushes: bool = True


def predicted(clip: Motion, blow: Blow) -> Array:
    """(3,) velocity that the articulated body's point takes from the blow [m/s per N s], all joints free."""
    actor = clip.figure.actor
    now = int(np.argmin(np.abs(clip.times - blow.time)))
    base = actor.first("pelvis")
    model = actor.model(np.ones(len(actor.names), dtype=bool), base if base >= 0 else 0)
    q, p = to_joints(model, clip.q[now], clip.p[now])
    kin = kinematics(model, State(q, p, np.zeros((model.n, 6))))
    point = clip.p[now, blow.body] + rotate(clip.q[now, blow.body], blow.point)
    return effective_inverse(model, kin, blow.body, point) @ blow.direction


def _way(motion: Motion, clip: Motion, blow: Blow) -> Array:
    """(K, 3) displacement of the struck point from the clip's [m]."""
    at = [m.p[:, blow.body] + (m.R[:, blow.body] @ blow.point) for m in (motion, clip)]
    return at[0] - at[1]


def _after(motion: Motion, blow: Blow, seconds: float) -> slice:
    first = int(np.searchsorted(motion.times, blow.time - 1e-9))
    return slice(min(first, len(motion.times) - 1), first + int(round(seconds * RATE)) + 1)


def response(motion: Motion, clip: Motion, blow: Blow, ahead: Array) -> Finding:
    """[cm] how far the struck point goes along the articulated body's own answer to the blow."""
    seen = _after(motion, blow, SEEN)
    x = _way(motion, clip, blow)[seen] @ (ahead / np.linalg.norm(ahead))
    k = int(np.argmax(x))
    name = motion.figure.actor.names[blow.body]
    return Finding("response", 100.0 * float(x[k]), "cm", name, float(motion.times[seen][k]), least=True)


def delay(motion: Motion, clip: Motion, blow: Blow) -> Finding:
    """[s] from the hit until the struck point has gone VISIBLE from the clip's; SEEN where it never does."""
    x = np.linalg.norm(_way(motion, clip, blow)[_after(motion, blow, SEEN)], axis=-1)
    begins = float(_onset(x[:, None], VISIBLE)[0]) if x.max() > VISIBLE else SEEN
    return Finding("delay", begins, "s", motion.figure.actor.names[blow.body], blow.time + begins)


def direction(motion: Motion, clip: Motion, blow: Blow, ahead: Array) -> Finding:
    """[deg] between the struck point's way and the articulated body's own answer, when it is farthest at first."""
    seen = _after(motion, blow, FIRST)
    x = _way(motion, clip, blow)[seen]
    k = int(np.argmax(np.linalg.norm(x, axis=-1)))
    size = float(np.linalg.norm(x[k]))
    if size < 1e-6:
        return nothing("direction", "deg", motion)
    cosine = float(x[k] @ ahead / (size * np.linalg.norm(ahead)))
    turn = float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
    return Finding("direction", turn, "deg", motion.figure.actor.names[blow.body], float(motion.times[seen][k]))


def spread(motion: Motion, clip: Motion, blow: Blow) -> Finding | None:
    """[ms per joint] by which each joint farther from the blow begins to turn later; None where too few take part."""
    figure, seen = motion.figure, _after(motion, blow, SEEN + 0.2)
    turn = np.linalg.norm(deviation(motion, clip)[seen], axis=-1)
    peak = turn.max(axis=0)
    part = np.flatnonzero(peak > max(NOTICED, 0.1 * float(peak.max(initial=0.0))))
    away = _edges(motion, blow.body)[part]
    if len(np.unique(away)) < 2:
        return None
    begin = _onset(turn[:, part] / peak[part], BEGUN)
    far = away - away.mean()
    late = float(far @ (begin - begin.mean()) / (far @ far))
    early = int(part[np.argmin(np.where(far > 0.0, begin, np.inf))])
    return Finding("spread", 1000.0 * late, "ms per joint", figure.names[early], blow.time, least=True)


def _onset(x: Array, level: float) -> Array:
    """(w,) [s] when the rising (K, w) first pass a level, between samples."""
    k = np.maximum(np.argmax(x > level, axis=0), 1)
    w = np.arange(x.shape[1])
    before, after = x[k - 1, w], x[k, w]
    return np.asarray((k - 1 + np.clip((level - before) / np.maximum(after - before, 1e-9), 0.0, 1.0)) / RATE)


def _edges(motion: Motion, body: int) -> Array:
    """(m,) joints between each judged body and the struck one."""
    figure = motion.figure
    up = {k: int(u) for k, u in enumerate(figure.up)}

    def chain(k: int) -> list[int]:
        return [k] if up[k] < 0 else [k, *chain(up[k])]

    struck, parent = body, figure.actor.parent
    while struck >= 0 and struck not in figure.bodies:
        struck = int(parent[struck])
    own = chain(int(np.flatnonzero(figure.bodies == struck)[0])) if struck >= 0 else []
    out = []
    for k in range(len(figure.bodies)):
        line = chain(k)
        meet = next((i for i, b in enumerate(line) if b in own), len(line))
        out.append(meet + (own.index(line[meet]) if meet < len(line) else len(own)))
    return np.array(out, dtype=np.float64)


def restraint(motion: Motion, clip: Motion) -> Finding:
    """[deg] the farthest a joint turns from the clip."""
    turn = np.degrees(np.linalg.norm(deviation(motion, clip), axis=-1))
    return at_most("restraint", turn, "deg", motion)


def settling(motion: Motion, clip: Motion, blow: Blow, displaced: Array = HOME) -> tuple[Finding, Finding]:
    """[s] from the hit until no more than ALIVE of the largest displacement is left: neither too long nor too short.

    displaced: (3,) how far off the clip the body goes on, where it doesn't come back [m].
    """
    apart = np.sqrt(np.mean(np.sum(_off(motion, clip, blow.time, displaced) ** 2, axis=-1), axis=1))
    alive = np.flatnonzero(apart > max(ALIVE * float(apart.max()), 1e-3))
    time = float(motion.times[alive[-1]]) if len(alive) else blow.time
    lasts = max(time - blow.time, 0.0)
    return Finding("settling", lasts, "s", "", time), Finding("relaxation", lasts, "s", "", time, least=True)


def _off(motion: Motion, clip: Motion, since: float, displaced: Array) -> Array:
    """(K, m, 3) heads off the clip; from a time on [s] off the clip where the body goes on."""
    return motion.heads - clip.heads - (motion.times >= since - 1e-9)[:, None, None] * displaced


def wobble(motion: Motion, clip: Motion, since: float, displaced: Array = HOME) -> Finding:
    """[1] swings back and forth after the first, each as part of that one, added up; of the bodies that move most.

    since: [s] time of the last blow.  displaced: as in `settling`.
    """
    first = min(int(np.searchsorted(motion.times, since - 1e-9)), len(motion.times) - 1)
    apart = _off(motion, clip, since, displaced)[first:]
    size = np.linalg.norm(apart, axis=-1)
    worst = nothing("wobble", "swings", motion)
    for k in np.argsort(-size.max(axis=0))[:5]:
        peak = int(np.argmax(size[:, k]))
        if size[peak, k] < 0.01:
            continue
        x = apart[:, k] @ apart[peak, k] / size[peak, k] ** 2
        turns = np.flatnonzero(np.diff(np.signbit(x[peak:]))) + 1
        later = np.split(np.abs(x[peak:]), turns)[1:]
        total = sum(float(part.max()) for part in later if part.max() > 0.05)
        if total > worst.value:
            worst = Finding("wobble", total, "swings", motion.figure.names[int(k)], float(motion.times[first + peak]))
    return worst


def gain(motion: Motion, clip: Motion, blow: Blow) -> float:
    """[N s] momentum along the blow that its impulse doesn't explain: more than it gives, or against it."""
    if not blow.impulse > 0.0:
        return 0.0
    mass = float(motion.figure.actor.masses.mass.sum())
    v = (motion.com_velocity - clip.com_velocity) @ blow.direction
    given = mass * float(v[_after(motion, blow, blow.contact + 0.1)].max(initial=0.0))
    return max(given - blow.impulse, 0.0)
