"""The way of the point that a hit strikes: where it goes off the clip, and how far astray."""

from dataclasses import dataclass

import numpy as np

from core import hits
from core import situation as situations
from core.rotation import rotate

SEEN = 0.4  # [s] from the hit in which the struck point has its first peak
NOTHING = 0.002  # [m] below which a peak is none yet
ALONG = 30.0  # [deg] that the way may be off the articulated body's answer


@dataclass(frozen=True, eq=False)
class Aim:
    """A point of a body and the situation in which it is hit."""

    actor: object
    clip: object
    frame: float
    situation: str
    bone: str
    along: float

    def planned(self, direction, strength):
        """(Situation, Hit) from a direction [left, forward, up] of the figure, with a strength's name."""
        plain = situations.named(self.situation).with_changes(direction=tuple(map(float, direction)), along=self.along)
        return plain, hits.HitSetting(plain, bone=self.bone, strength=strength).hit(self.frame)

    def own(self):
        """World poses (T, n, 4), (T, n, 3) of the clip [canonical m]."""
        return self.actor.canonical(self.clip)


def displacement(aim, reaction):
    """(K, 3) of the struck point from where the clip has it, from the hit on for SEEN [m]."""
    at = [p + rotate(q, reaction.point) for q, p in struck(aim, reaction)]
    return at[0] - at[1]


def struck(aim, reaction):
    """World poses (K, 4), (K, 3) of the struck body, from the hit on for SEEN: of the reaction and of the clip."""
    times, i = aim.clip.times, reaction.struck
    seen = (times > reaction.start - 1e-6) & (times < reaction.start + SEEN)
    return [(q[seen, i], p[seen, i]) for q, p in (reaction.poses(aim.clip), aim.own())]


def size(way):
    """(K,) of a displacement (K, 3) [m]."""
    return np.linalg.norm(way, axis=-1)


def first_peak(way):
    """Index of the first maximum of a displacement's (K, 3) size that is more than NOTHING, else of the largest."""
    far = size(way)
    inside = (far[1:-1] >= far[:-2]) & (far[1:-1] > far[2:]) & (far[1:-1] > NOTHING)
    return int(np.argmax(inside)) + 1 if inside.any() else int(np.argmax(far))


def between(a, b):
    """[deg] between two vectors."""
    both = np.linalg.norm(a) * np.linalg.norm(b)
    return float(np.degrees(np.arccos(np.clip(a @ b / max(both, 1e-12), -1.0, 1.0))))
