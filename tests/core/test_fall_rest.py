"""Where a limp body comes to rest, beside MuJoCo's own ragdoll of the same masses, ranges, limbs and friction.

A fall is chaotic once limbs have landed: which side a body ends on is not compared, but how fast it gets down, how low
its weight and hips lie in the end, and that it does lie still.
"""

from dataclasses import replace

import numpy as np
import pytest

from core.fall import Falling, fall
from core.model import State
from core.progress import run
from core.rotation import conjugate, log, multiply, rotate
from core.situation import named

from .figures import build
from .test_fall import path
from .test_react import HIT, actor_of

pytest.importorskip("mujoco")
from .mujoco_ragdoll import Ragdoll  # noqa: E402  it imports mujoco itself

pytestmark = pytest.mark.usefixtures("elsewhere")

LIMP = 0.3  # [s] after the blow, when nothing is left of the muscles: MuJoCo's body falls from there on


def big_headed():
    """A figure whose head is wider than its shoulders and heavier than all else: it lies on it."""
    skeleton = build(skin=True, head=("neck", (0, 0, 1.58), (0, 0, 2.2)))
    own = skeleton.skin.owner == skeleton.index("head")
    vertices = np.where(own[:, None], [5.0, 5.0, 1.0], 1.0) * skeleton.skin.vertices
    return replace(skeleton, skin=replace(skeleton.skin, vertices=vertices))


@pytest.fixture(scope="module", params=["human", "big-headed"])
def rests(request, actor, clip, knocked_out):
    """(actor, floor's height, our (seconds, rotation, position), MuJoCo's)."""
    fallen = knocked_out
    if request.param != "human":
        actor = actor_of(big_headed())
        fallen = run(fall(actor, clip, named("knock_out"), HIT))
    stage = Falling(actor, clip, [(named("knock_out"), HIT)], {}, {})
    k = int(np.searchsorted(fallen.times, fallen.start + LIMP))
    theirs = Ragdoll(stage, _state(fallen, k), fallen.times[k] - fallen.start).fallen(4.0)
    return actor, stage.ragdoll.floor.height, (fallen.times - fallen.start, *path(fallen, clip)), theirs


def _state(fallen, k):
    """Of a fall at its k-th moment, its twists from those around it."""
    (before, now, after), (low, at, high) = (x[k - 1 : k + 2] for x in fallen.fell)
    h = fallen.times[k + 1] - fallen.times[k - 1]
    turned, moved = log(multiply(conjugate(before), after)), rotate(conjugate(now), high - low)
    return State(now, at, np.concatenate((turned, moved), axis=-1) / h)


def test_it_comes_to_rest_as_low_as_mujoco_s_ragdoll(rests):
    """Measured: weights at rest 2 and 6 mm apart, hips 7 and 4; on the way down 2 cm on average."""
    actor, ground, *both = rests
    (since, own), (times, theirs) = ((times, _weight(actor, q, p) - ground) for times, q, p in both)
    assert own[0] > 0.8 and own[-1] < 0.25, "it falls"
    assert np.ptp(theirs[times > times[-1] - 0.2]) < 2e-3, "MuJoCo's lies still"
    assert abs(own[-1] - theirs[-1]) < 0.03
    apart = np.abs(np.interp(times, since, own) - theirs)
    assert apart[times < 1.3].mean() < 0.03
    hips = [p[-1, actor.first("pelvis"), 2] for *_, p in both]
    assert abs(hips[0] - hips[1]) < 0.04


def _weight(actor, q, p):
    """(T,) [m] height of the centre of mass at world poses, bodies about their middles."""
    mass = actor.masses.mass[actor.order]
    return (p + rotate(q, 0.5 * actor.axis))[..., 2] @ (mass / mass.sum())
