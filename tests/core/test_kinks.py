"""Clips whose keys are joined by straight lines: what is simulated on has the motion, and no kinks at the keys."""

import numpy as np
import pytest

from core.kinks import rounded
from core.rotation import angle, conjugate, exp, log, multiply, rotate
from core.skeleton import Clip

RATE = 60.0  # samples per second
PARENT = np.array([-1, 0, 1])
TIMES = np.arange(61) / RATE
INNER = slice(4, -4)


def clip_of(course):
    """An object and three bones that swing by angles (T, 4) [rad]."""
    axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [1.0, 0.0, 0.0]]
    turn = exp(course[..., None] * axes)
    place = np.zeros((len(course), 4, 3)) + [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.5, 0.0], [0.0, 0.5, 0.0]]
    place[:, :2, 1] += course[:, :2]
    q, p = turn[:, 1:].copy(), place[:, 1:].copy()
    for bone in (1, 2):
        p[:, bone] = p[:, bone - 1] + rotate(q[:, bone - 1], p[:, bone])
        q[:, bone] = multiply(q[:, bone - 1], q[:, bone])
    return Clip(RATE, np.arange(len(course)), q, p, turn[:, 0], place[:, 0])


def swing(times):
    """Angles (T, 4) of a walk's speed [rad]."""
    return 0.7 * np.sin(2.0 * np.pi * times[:, None] + np.arange(4.0))


def keyed(rate):
    """The swing with keys so many times a second, joined by straight lines."""
    keys = np.arange(np.ceil(TIMES[-1] * rate) + 1.0) / rate
    return clip_of(np.stack([np.interp(TIMES, keys, x) for x in swing(keys).T], axis=-1))


def jolts(clip):
    """The largest change of a joint's speed from sample to sample, of each bone and of the object [rad/s]."""
    q = np.concatenate((clip.object_rotation[:, None], clip.rotation), axis=1)
    q[:, 2:] = multiply(conjugate(clip.rotation[:, :-1]), clip.rotation[:, 1:])
    speed = log(multiply(conjugate(q[:-1]), q[1:])) * RATE
    return np.linalg.norm(np.diff(speed, axis=0), axis=-1)[INNER].max(axis=0)


def off(a, b):
    """How far two clips are apart at most, inside: turns [deg], places [m]."""
    turns = np.degrees(angle(a.world_rotation(), b.world_rotation()))
    return turns[INNER].max(), np.linalg.norm(a.world_position() - b.world_position(), axis=-1)[INNER].max()


@pytest.mark.parametrize("rate", (24.0, 25.0, 30.0))
def test_kinks(rate):
    """Of what the keys add to the motion's own jolts not a third is left, and its poses are nearer to the motion's."""
    shown, meant = keyed(rate), clip_of(swing(TIMES))
    found = rounded(shown, PARENT)
    own = jolts(meant)
    added = jolts(shown) - own
    assert np.all(added > 0.9 * own)
    assert np.all(jolts(found) - own < 0.3 * added)
    assert np.all(np.array(off(found, meant)) < 0.8 * np.array(off(shown, meant)))
    np.testing.assert_allclose(found.rotation[[0, 1, -2, -1]], shown.rotation[[0, 1, -2, -1]], atol=1e-14)


def test_smooth():
    """What is smooth stays: a swing at a walk's speed within 0.01 degrees, a cubic course to round-off."""
    meant = clip_of(swing(TIMES))
    turns, places = off(rounded(meant, PARENT), meant)
    assert turns < 0.01 and places < 1e-4
    cubic = clip_of(np.zeros((len(TIMES), 4)))
    cubic.object_position[:, 0] = 3.0 * TIMES**3 - TIMES**2
    np.testing.assert_allclose(rounded(cubic, PARENT).object_position, cubic.object_position, atol=1e-14)


def test_trembling():
    """What goes to and fro from sample to sample is no motion; bones keep their lengths."""
    course = swing(TIMES)
    found = rounded(clip_of(course + 0.02 * (-1.0) ** np.arange(len(TIMES))[:, None]), PARENT)
    assert off(found, clip_of(course))[0] < 0.05
    length = np.linalg.norm(np.diff(found.position, axis=1), axis=-1)
    np.testing.assert_allclose(length, 0.5, atol=1e-12)


def test_short():
    """A clip of fewer samples stays as it is."""
    few = clip_of(swing(TIMES[:4]) + 0.3)
    np.testing.assert_array_equal(rounded(few, PARENT).object_position, few.object_position)
