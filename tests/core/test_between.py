"""Keys that jump by a turn between two frames: what they whirl through is not the clip."""

import numpy as np
import pytest

from core.between import steadied
from core.rotation import angle, exp
from core.skeleton import Clip

FPS, ROUND = 24.0, 2.0 * np.pi


def clip_of(turns, frames):
    """A clip of an object and two bones that turn about x by these angles (T, 3) [rad], each bone a metre along."""
    q = exp(np.stack([turns, np.zeros_like(turns), np.zeros_like(turns)], axis=-1))
    p = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]) + frames[:, None, None] * [0.1, 0.0, 0.0]
    return Clip(FPS, frames, q[:, 1:], p, q[:, 0], np.zeros((len(frames), 3)))


def turning(frames, column, jump):
    """Angles (T, 3) that grow by 0.1 a frame; from frame 3 on one of them is a jump more, reached within a frame."""
    turns = np.tile(0.1 * frames[:, None], (1, 3))
    turns[:, column] += jump * np.clip(frames - 2.0, 0.0, 1.0)
    return turns


@pytest.fixture
def frames():
    """Whole frames, and moments at 60 a second."""
    return np.unique(np.round(np.concatenate((np.arange(7.0), np.arange(0.0, 6.0, 0.4))), 6))


@pytest.mark.parametrize("column", (0, 1, 2))
def test_a_turn_between_frames_is_left_out(frames, column):
    def jumps(a, b):
        return np.abs(turning(frames, column, ROUND)[b] - turning(frames, column, ROUND)[a]) > np.pi

    whirling, wanted = (clip_of(turning(frames, column, jump), frames) for jump in (ROUND, 0.0))
    steady, found = steadied(whirling, jumps)
    assert found == [(column - 1, 2.0)]
    assert np.max(angle(whirling.world_rotation(), wanted.world_rotation())) > 2.0
    assert np.max(angle(steady.world_rotation(), wanted.world_rotation())) < 1e-12
    assert np.max(np.abs(steady.world_position() - wanted.world_position())) < 1e-3  # an arc of 0.1 rad, its chord
    whole = frames == np.round(frames)
    assert np.array_equal(steady.rotation[whole], whirling.rotation[whole])


def test_a_jump_that_shows_nowhere_leaves_the_clip(frames):
    turns = turning(frames, 1, ROUND)
    turns[:, 1] = np.where(frames < 3.0, 0.0, ROUND)  # keys that don't interpolate
    clip = clip_of(turns, frames)
    assert steadied(clip, lambda a, b: np.ones((len(a), 3), dtype=bool)) == (clip, [])


def test_fast_but_no_jump_stays(frames):
    clip = clip_of(turning(frames, 1, ROUND), frames)
    assert steadied(clip, lambda a, b: np.zeros((len(a), 3), dtype=bool)) == (clip, [])
