"""Why a struck point goes elsewhere than the articulated body answers: the same blow again, without one thing.

Three things block by an inequality: ranges, flesh, legs of a length.  "floating" takes more away than the ground: plan,
guided weight and feet, all that a body does to stand.  What only turns the way, `cause` tells.
"""

from contextlib import ExitStack
from dataclasses import replace
from unittest import mock

import numpy as np

from core import flesh, joint_limits, recovery, tuning
from core.dynamics import centre_of
from core.footing import Footing
from core.progress import run
from core.react import react
from core.rotation import conjugate, exp, log, multiply, rotate

from .ways import ALONG, SEEN, between, displacement, first_peak, size, struck

SLACK = 1e-3  # [Hz] of muscles that do nothing


def _nothing(*_):
    return mock.Mock(spec=["add"])


def _none(*_):
    return None


def _long_enough(_, limb, clip, p, target):
    return np.zeros(len(p))


def _slack(*told, muscles=tuning.muscles):
    frequency, ratio = muscles(*told)
    return np.full_like(frequency, SLACK), ratio


BLOCKS = {  # name: what does it, and what stands there instead
    "limits": (
        (joint_limits.Ends, "about", _nothing),
        (joint_limits, "balls", _none),
        (joint_limits, "end_stops", _none),
    ),
    "flesh": ((flesh, "between", _none),),
    "legs": ((Footing, "_lacks", _long_enough),),  # the pelvis sinks for legs that stand and are no longer
    "floating": ((recovery, "prepare", _none),),  # no plan, no guided weight, no feet on the ground
}
BLOCKS["together"] = sum(BLOCKS.values(), ())
MUSCLES = ((tuning, "muscles", _slack),)
ALONE = BLOCKS["together"] + MUSCLES  # what is left is the body, what moves it on its clip, and the blow


def excuse(aim, plan, want):
    """(What blocks a plan's struck point, [deg] that it is off its answer `want` (3,) without that): a name in BLOCKS,
    "together" where it takes more than one of them; "" where it would go elsewhere all the same."""
    for name, taken in BLOCKS.items():
        left = _off(aim, plan, want, taken)
        if left <= ALONG:
            return name, left
    return "", left


def cause(aim, plan, reaction, want):
    """What turns a plan's struck point from its answer, `want` (3,), that nothing blocks.

    "clip": it aims at the answer turned with the struck bone as the clip turns that.  "arc": at this turned once more
    by half of what the bone turns off the clip, as a chord is off its tangent.  "muscles": without them it would aim.
    "weight": most of its way is the whole body's, which goes where the blow pushes it.  "" = none of these alone.
    """
    if turning(aim, reaction, want) <= ALONG:
        return "clip"
    if turning(aim, reaction, want, 0.5) <= ALONG:
        return "arc"
    if _off(aim, plan, want, MUSCLES) <= ALONG:
        return "muscles"
    return "weight" if carried(aim, reaction) > 0.5 else ""


def carried(aim, reaction):
    """Part of a struck point's displacement at its peak that the body's weight has gone along it."""
    gone = displacement(aim, reaction)
    k = first_peak(gone)
    model, times = aim.actor.model(np.ones(len(aim.actor.names), dtype=bool), -1), aim.clip.times
    now = int(np.flatnonzero(times > reaction.start - 1e-6)[k])
    ours, clips = (centre_of(model, q[now], p[now]) for q, p in (reaction.poses(aim.clip), aim.own()))
    return float((ours - clips) @ gone[k] / (gone[k] @ gone[k]))


def turning(aim, reaction, want, part=0.0):
    """[deg] that a struck point is off its answer (3,), turned with its bone as the clip turns that until the peak, and
    besides by a part of what the bone turns off the clip."""
    gone = displacement(aim, reaction)
    k = first_peak(gone)
    ours, clips = (q for q, _ in struck(aim, reaction))
    more = exp(part * log(multiply(ours[k], conjugate(clips[k]))))
    return between(gone[k], rotate(multiply(more, multiply(clips[k], conjugate(clips[0]))), want))


def alone(aim, plan, want, k):
    """[deg] that the point is off its answer `want` (3,) at the k-th sample after the hit, of a body on which nothing
    of ours acts."""
    return between(way(aim, plan, ALONE)[k], want)


def unlimited(aim, plan):
    """[m] the largest displacement in SEEN without joint limits."""
    return float(size(way(aim, plan, BLOCKS["limits"])).max())


def _off(aim, plan, want, taken):
    gone = way(aim, plan, taken)
    return between(gone[first_peak(gone)], want)


def way(aim, plan, taken=()):
    """`displacement` of a plan with things taken away, simulated for no longer than it is looked at."""
    situation, hit = plan
    brief = replace(situation.envelope, mode="hold", simulation=SEEN)
    return again(aim, (situation.with_changes(envelope=brief), hit), taken, displacement)


def again(aim, plan, taken, look):
    """What `look(aim, reaction)` sees of a plan with things taken away."""
    with ExitStack() as stack:
        for place, name, instead in taken:
            stack.enter_context(mock.patch.object(place, name, instead))
        return look(aim, run(react(aim.actor, aim.clip, *plan)))
