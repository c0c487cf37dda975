"""Past half a turn: joints go on the way they went, and those that came round don't turn back when a reaction fades."""

from dataclasses import replace

import numpy as np

from core.progress import run
from core.react import Hit, react
from core.rotation import angle, exp, unwound
from core.situation import named


def test_turns_go_on_past_half_and_whole_ones(rng):
    axis = np.array([0.6, 0.0, 0.8])
    amount = 11.0 * np.sin(np.linspace(0.0, np.pi, 200))  # almost two turns there and back
    short = amount - 2.0 * np.pi * np.round(amount / (2.0 * np.pi))
    out = unwound(short[:, None, None] * axis)
    np.testing.assert_allclose(out[:, 0], amount[:, None] * axis, atol=1e-12)
    late = unwound(out, 60)  # after 8.9 rad
    np.testing.assert_allclose(late[:, 0] @ axis, amount - 2.0 * np.pi, atol=1e-12)
    assert np.degrees(angle(exp(late), exp(out))).max() < 1e-5
    little = 0.5 * rng.normal(size=(9, 3, 3))
    assert unwound(little, 4) is little


def test_a_joint_that_has_come_round_does_not_turn_back(actor, clip):
    """A hand that has made a turn and 20 degrees in 0.5 s fades these 20 degrees, not 380."""
    still = run(react(actor, clip, named("chest_front"), Hit(25.0, impulse=0.0)))
    times = np.linspace(still.start, still.end, 300)
    hand, turn = actor.names.index("hand.L"), np.zeros((300, still.model.n, 3))
    turn[:, hand, 1] = np.radians(380.0) * np.clip((times - times[0]) / 0.5, 0.0, 1.0)
    spun = replace(still, times=times, turn=turn, travel=np.zeros_like(turn))
    off = np.degrees(angle(spun.poses(clip)[0][:, hand], actor.canonical(clip)[0][:, hand]))
    since = clip.times - still.start
    assert off[since < 0.5].max() > 160.0
    late = (since > 0.5) & (since < still.end - still.start)
    assert off[late].max() < 20.001 and np.diff(off[late]).max() < 1e-6 and off[late][-1] < 0.5
    part = replace(spun, weights=np.full(still.model.n, 0.5))  # in part a jump by a turn would be seen
    seen = part.deviation(np.arange(times[0], times[-1], 1e-3))[0][:, hand]
    assert np.degrees(np.abs(np.diff(seen, axis=0))).max() < 1.0
