"""The judge: all checks on a motion, alone, against its clip, or as the answer to a known hit."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..actor import Actor
from ..errors import ClipError
from ..rotation import Array
from ..skeleton import Clip
from . import balance, blow, bulk, ends, ground, joints, rates, rule, thresholds
from .finding import Finding
from .lines import LIMITS
from .motion import RATE, Figure, Motion, grid, sampled

SHORTEST = 0.2  # [s] that can be judged


@dataclass(frozen=True)
class Verdict:
    """grade: "good", "less good" or "bad".  findings: all checks, the worst against its limit first.

    mode: "alone", "clip" or "hit": what the motion was judged against.
    """

    grade: str
    mode: str
    findings: tuple[Finding, ...]

    def failed(self) -> tuple[Finding, ...]:
        """Checks beyond their limit."""
        return tuple(f for f in self.findings if rule.excess(f, self.mode) > 1.0)

    def table(self) -> dict[str, dict[str, Any]]:
        """For reports: {name: {"value", "limit", "bad", "unit", "ok", "bone", "time"}}."""
        out = {}
        for f in self.findings:
            limit, bad = LIMITS[rule.stage(self.mode)][f.name]
            out[f.name] = {
                "value": round(f.value, 4),
                "limit": limit,
                "bad": bad,
                "unit": f.unit,
                "ok": rule.excess(f, self.mode) <= 1.0,
                "bone": f.bone,
                "time": round(f.time, 4),
            }
            if f.least:
                out[f.name]["at_least"] = True
        return out


def judge(
    actor: Actor,
    motion: Clip,
    clip: Clip | None = None,
    hit: blow.Blow | None = None,
    further: Sequence[blow.Blow] = (),
    displaced: Array = blow.HOME,
) -> Verdict:
    """Grade a motion: alone, beyond its clip, or as the clip's answer to a hit and further ones, in order of time.

    displaced: (3,) how far off its clip the body goes on after the last one, canonical [m].

    How the first is answered is judged where the next leaves it `blow.SEEN`, how all ends from the last on.
    Only the time that motion and clip share is judged; at least SHORTEST of it, else ClipError.
    """
    mode = "alone" if clip is None else "clip" if hit is None else "hit"
    found = measure(actor, motion, clip, hit, thresholds.RANGES, further, displaced)
    found.sort(key=lambda f: -rule.excess(f, mode))
    return Verdict(rule.grade(found, mode), mode, tuple(found))


def measure(
    actor: Actor,
    motion: Clip,
    clip: Clip | None,
    hit: blow.Blow | None,
    ranges: joints.Ranges,
    further: Sequence[blow.Blow] = (),
    displaced: Array = blow.HOME,
) -> list[Finding]:
    """All checks that apply, without a verdict."""
    times = grid(motion) if clip is None else grid(motion, clip)
    if len(times) < SHORTEST * RATE:
        raise ClipError(f"The motion lasts {max(len(times) - 1, 0) / RATE:g} s. Give at least {SHORTEST:g} s to judge.")
    figure = figure_of(actor)
    own = None if clip is None else sampled(figure, clip, times)
    now = sampled(figure, motion, times)
    stood = None if own is None else ground.stand(own)
    stands = ground.stand(now, stood)
    hits = () if hit is None else (hit, *further)
    quiet = [(h.time - 0.05, h.time + h.contact + 0.1) for h in hits]
    found = [
        joints.limits(now, own, ranges),
        bulk.penetration(now, own, rest(figure)),
        ground.slip(now, stands, stood),
        ground.skid(now, stands, stood),
        ground.floating(now, stands, stood),
        ground.sinking(now, stands, own, stood),
        balance.balance(now, stands, own, stood),
        balance.momentum(now, stands, own, stood, quiet),
        rates.travel(now, own, sum(h.impulse for h in hits) / float(actor.masses.mass.sum())),
        *(check(now, own) for check in (rates.speed, rates.acceleration, rates.jerk)),
        rates.pop(now, own, quiet),
        rates.jump(now, own, quiet),
        rates.frozen(now, own),
    ]
    return found if own is None else [*found, *_beside(now, own, hits, displaced)]


def _beside(now: Motion, own: Motion, hits: Sequence[blow.Blow], displaced: Array) -> list[Finding]:
    """The checks against a clip, which hits may have changed."""
    found = [ends.continuity(now, own), blow.restraint(now, own)]
    if not hits:
        return found
    since = hits[-1].time if len(hits) > 1 or np.any(displaced) else now.times[0]
    found += [*blow.settling(now, own, hits[-1], displaced), blow.wobble(now, own, since, displaced)]
    return [*found, *_answer(now, own, hits[0])] if _has_its_time(hits) else found


def _has_its_time(hits: Sequence[blow.Blow]) -> bool:
    """Whether the answer to the first can be told from what the next does, and is a point's that was pushed."""
    return hits[0].pushes and all(h.time - hits[0].time >= blow.SEEN for h in hits[1:])


def _answer(now: Motion, own: Motion, hit: blow.Blow) -> list[Finding]:
    """The checks of how the struck body answers a known hit."""
    ahead = blow.predicted(own, hit)
    late = blow.spread(now, own, hit)
    found = [
        blow.response(now, own, hit, ahead),
        blow.delay(now, own, hit),
        blow.direction(now, own, hit, ahead),
    ]
    if hit.impulse > 0.0:
        found.append(Finding("gain", blow.gain(now, own, hit) / hit.impulse, "of the impulse", "", hit.time))
    return found if late is None else [*found, late]


@lru_cache(maxsize=8)
def figure_of(actor: Actor) -> Figure:
    """The judged bodies of an actor."""
    return Figure.of(actor)


@lru_cache(maxsize=8)
def rest(figure: Figure) -> Motion:
    """The figure at rest, one moment."""
    actor = figure.actor
    q = actor.skeleton.rotation[actor.order][None]
    p = actor.sign * actor.masses.scale * actor.skeleton.head[actor.order][None]
    return Motion(figure, np.zeros(1), q, p)
