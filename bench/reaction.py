"""A reaction of 2 s of a 25-bone human, as an operator computes it: stage, simulation, deviations."""

from functools import cache, partial

import numpy as np

from core.actor import Actor
from core.anatomy import analyse
from core.bodies import measure
from core.pose import Envelope
from core.progress import run
from core.react import Hit, react
from core.rotation import conjugate, exp, multiply, rotate
from core.situation import named
from core.skeleton import Clip
from tests.core.figures import HUMAN, build

FPS, SECONDS = 24.0, 4.0
ENVELOPE = Envelope(0.0, 1.0, 1.0)  # 2 s
EXTRA = {
    "spine.03": ("spine.02", (0, 0, 1.4), (0, 0, 1.5)),
    "neck": ("spine.03", (0, 0, 1.5), (0, 0, 1.58)),
    "clavicle.L": ("spine.03", (0.03, 0, 1.45), (0.18, 0, 1.45)),
    "finger.L": ("hand.L", (0.84, -0.02, 1.45), (0.9, -0.02, 1.45)),
}
SWINGS = {"upper_arm": (0, 0.35, 0.0), "thigh": (0, 0.4, np.pi), "shin": (0, 0.3, 0.5 * np.pi), "spine": (2, 0.08, 0.0)}
KINDS = {}


def kind(name):
    def add(make):
        KINDS[name] = make
        return make

    return add


@kind("upper body")
def upper_body():
    """A blow on the shoulder; pelvis and legs stay on the clip."""
    return _reacting(named("shoulder_front").with_changes(envelope=ENVELOPE, support=()))


@kind("whole body")
def whole_body():
    """The same with planted feet and a pelvis that travels."""
    return _reacting(named("shoulder_front").with_changes(envelope=ENVELOPE))


def _reacting(situation):
    actor, clip = _actor(), _clip()
    return partial(_react, actor, clip, situation)


def _react(actor, clip, situation):
    return run(react(actor, clip, situation, Hit(25.0)))


@cache
def _actor():
    skeleton = build({**HUMAN, **EXTRA}, skin=True)
    anatomy = analyse(skeleton)
    return Actor(skeleton, anatomy, measure(skeleton, anatomy))


@cache
def _clip():
    """Walking on the spot, roughly."""
    skeleton = _actor().skeleton
    frames = 1.0 + np.arange(round(SECONDS * FPS) + 1)
    turns = np.zeros((len(frames), len(skeleton.names), 3))
    for i, name in enumerate(skeleton.names):
        part, _, side = name.partition(".")
        axis, size, lag = SWINGS.get(part, (0, 0.0, 0.0))
        turns[:, i, axis] = size * np.sin(2.0 * np.pi * (frames - 1.0) / FPS + lag + np.pi * (side == "R"))
    q, p = np.empty(turns.shape[:2] + (4,)), np.empty_like(turns)
    for i, up in enumerate(skeleton.parent):
        rest, head = skeleton.rotation[i], skeleton.head[i]
        if up < 0:
            q[:, i], p[:, i] = multiply(np.tile(rest, (len(frames), 1)), exp(turns[:, i])), head
            continue
        local = multiply(conjugate(skeleton.rotation[up]), rest)
        offset = rotate(conjugate(skeleton.rotation[up]), head - skeleton.head[up])
        q[:, i] = multiply(q[:, up], multiply(np.tile(local, (len(frames), 1)), exp(turns[:, i])))
        p[:, i] = p[:, up] + rotate(q[:, up], np.tile(offset, (len(frames), 1)))
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(frames), 1))
    return Clip(FPS, frames, q, p, still, np.zeros((len(frames), 3)))
