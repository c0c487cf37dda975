"""Key reduction: the bound by brute force, in every kind of channel and along chains, and what must be kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import keys
from core.key_errors import chains
from core.keys import Motion
from core.rotation import angle, continuous, exp, multiply, normalize

from .work import calls

FRAMES = np.arange(12.0, 78.0)
LOOKS = np.arange(FRAMES[0], FRAMES[-1] + 1e-9, 0.25)
HALF = np.radians(0.5)


def smooth(rng, count, width, strength, frames=FRAMES):
    """Wavy curves (K, count, width) that start and end at nothing, some with a kick like a blow's."""
    t = (frames - frames[0]) / (frames[-1] - frames[0])
    out = np.zeros((len(t), count, width))
    for wave in range(1, 7):
        out += np.sin(wave * np.pi * t)[:, None, None] * rng.normal(size=(count, width)) / wave
    kick = np.exp(-((t - 0.1) ** 2) / 0.002)
    return strength * (out + kick[:, None, None] * rng.normal(size=(count, width))) * np.sin(np.pi * t)[:, None, None]


def full(values, looks=LOOKS, frames=FRAMES):
    """Values of the full bake: straight lines between its keys."""
    return np.stack([np.interp(looks, frames, column) for column in values.T], axis=-1)


def sparse(kept, values, looks=LOOKS, frames=FRAMES):
    """Values of the curves with the kept keys, evaluated one look after the other from keys and handles."""
    out = np.empty((len(looks), values.shape[1]))
    for c, column in enumerate(values.T):
        left, right = kept.handles(frames, column)
        for row, look in enumerate(looks):
            s = min(max(int(np.searchsorted(frames[kept.at], look, side="right")) - 1, 0), len(kept.at) - 2)
            t0, t1 = frames[kept.at[s]], frames[kept.at[s + 1]]
            u = (look - t0) / (t1 - t0)
            points = (column[kept.at[s]], right[s], left[s + 1], column[kept.at[s + 1]])
            if kept.straight[s]:
                out[row, c] = points[0] + u * (points[3] - points[0])
            else:
                weights = ((1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u * u * (1 - u), u**3)
                out[row, c] = sum(w * p for w, p in zip(weights, points, strict=True))
    return out


def euler(angles):
    """XYZ: first about x, then y, then z."""
    axes = np.eye(3)
    turns = [exp(angles[..., i, None] * axes[i]) for i in range(3)]
    return multiply(turns[2], multiply(turns[1], turns[0]))


def axis_angle(values):
    axis = values[:, 1:] / np.linalg.norm(values[:, 1:], axis=-1, keepdims=True)
    return exp(values[:, :1] * axis)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.5, 2.0]), st.floats(0.02, 1.5))
def test_quaternions_stay_within_the_angle(seed, degrees, strength):
    rng = np.random.default_rng(seed)
    turn = continuous(exp(smooth(rng, 3, 3, strength)))
    found = keys.reduce(FRAMES, [Motion("quaternion", turn[:, b]) for b in range(3)], np.radians(degrees))
    for b, kept in enumerate(found):
        off = angle(normalize(full(turn[:, b])), normalize(sparse(kept, turn[:, b])))
        assert np.degrees(off.max()) <= degrees


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1.0))
def test_euler_angles_stay_within_the_angle_over_any_base(seed, strength):
    rng = np.random.default_rng(seed)
    values = smooth(rng, 1, 3, strength)[:, 0]
    kept = keys.reduce(FRAMES, [Motion("euler", values)], HALF)[0]
    assert len(kept.at) < len(FRAMES)
    for _ in range(4):
        base = 2.0 * rng.normal(size=(len(LOOKS), 3))
        assert angle(euler(base + full(values)), euler(base + sparse(kept, values))).max() <= HALF


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.6))
def test_axis_and_angle_stay_within_the_angle_over_their_base(seed, strength):
    rng = np.random.default_rng(seed)
    values = smooth(rng, 1, 4, strength)[:, 0]
    base = np.array([0.4, 0.0, 0.0, 3.0]) + smooth(rng, 1, 4, 0.3)[:, 0]
    kept = keys.reduce(FRAMES, [Motion("axis_angle", values, base=base)], HALF)[0]
    below = full(base)
    assert angle(axis_angle(below + full(values)), axis_angle(below + sparse(kept, values))).max() <= HALF


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_whole_chain_stays_within_the_angle(seed):
    """Seven bones, each turned against the one before: the last one's orientation is off by less than the tolerance."""
    rng = np.random.default_rng(seed)
    turn, base = continuous(exp(smooth(rng, 7, 3, 0.3))), normalize(rng.normal(size=(7, 4)))
    motions = [Motion("quaternion", turn[:, b], parent=b - 1) for b in range(7)]
    found = keys.reduce(FRAMES, motions, HALF)
    whole = thinned = np.array([[1.0, 0, 0, 0]])
    for b, kept in enumerate(found):
        whole = multiply(whole, multiply(base[b], normalize(full(turn[:, b]))))
        thinned = multiply(thinned, multiply(base[b], normalize(sparse(kept, turn[:, b]))))
        assert angle(whole, thinned).max() <= HALF
    assert sum(len(kept.at) for kept in found) < 0.36 * 7 * len(FRAMES)  # 0.26 to 0.31 of thirty seeds


def test_locations_stay_within_the_distance(rng):
    values, turn = smooth(rng, 1, 3, 0.2)[:, 0], continuous(exp(smooth(rng, 1, 3, 0.1)))[:, 0]
    kept = keys.reduce(FRAMES, [Motion("quaternion", turn, values)], np.radians(20.0), 0.002)[0]
    assert len(kept.at) < 20  # 16
    assert np.linalg.norm(full(values) - sparse(kept, values), axis=-1).max() <= 0.002
    loose = keys.reduce(FRAMES, [Motion("quaternion", turn, values)], np.radians(20.0), 0.2)[0]
    assert len(loose.at) < len(kept.at)


@pytest.mark.parametrize(
    "kind, value", [("quaternion", [0.6, 0, 0.8, 0]), ("euler", [1, 2, 3]), ("axis_angle", [1, 0, 0, 2])]
)
def test_what_stands_still_keeps_two_keys(kind, value):
    still = np.tile(np.array(value, dtype=float), (len(FRAMES), 1))
    kept = keys.reduce(FRAMES, [Motion(kind, still, np.ones((len(FRAMES), 3)))], HALF, 1e-6)[0]
    np.testing.assert_array_equal(kept.at, [0, len(FRAMES) - 1])
    np.testing.assert_allclose(sparse(kept, still), np.tile(value, (len(LOOKS), 1)), atol=1e-12)


def test_asked_frames_and_ends_are_kept_and_exact(rng):
    turn = continuous(exp(smooth(rng, 2, 3, 0.5)))
    found = keys.reduce(FRAMES, [Motion("quaternion", turn[:, b]) for b in range(2)], np.radians(30.0), keep=[20, 47.0])
    for b, kept in enumerate(found):
        assert {0, 8, 35, len(FRAMES) - 1} <= set(kept.at)
        np.testing.assert_array_equal(sparse(kept, turn[:, b], FRAMES[kept.at]), turn[kept.at, b])


def test_frames_that_one_bone_keeps(rng):
    values = normalize(np.array([1.0, 0, 0, 0]) + smooth(rng, 2, 4, 0.05))
    asked = (30.0, 31.0, 55.0)
    bones = [Motion("quaternion", values[:, 0], keep=asked), Motion("quaternion", values[:, 1])]
    first, second = keys.reduce(FRAMES, bones, HALF)
    assert set(asked) <= set(FRAMES[first.at]) and not set(asked) <= set(FRAMES[second.at])
    (alone,) = keys.reduce(FRAMES, [bones[1]], HALF)
    np.testing.assert_array_equal(second.at, alone.at)


def test_a_kink_at_a_kept_frame_is_a_corner():
    """A second blow within the layer: straight before, a parabola after; three keys say it all."""
    after = np.maximum(FRAMES - 40.0, 0.0)
    turn = exp(np.stack((1e-3 * (FRAMES - 12.0) + 2e-4 * after**2, 0 * after, 0 * after), axis=-1))
    assert len(keys.reduce(FRAMES, [Motion("quaternion", turn)], HALF, keep=[40.0])[0].at) == 3


def test_the_other_sign_is_the_same_rotation(rng):
    turn = continuous(exp(smooth(rng, 1, 3, 0.5)))[:, 0]
    one, two = (keys.reduce(FRAMES, [Motion("quaternion", q)], HALF)[0] for q in (turn, -turn))
    np.testing.assert_array_equal(one.at, two.at)


@pytest.mark.parametrize("flip", [False, True])
def test_half_turns(flip):
    """A bone that turns once and a half around, continuous or with a jump of sign that Blender shows as a whirl."""
    turn = exp(np.linspace(0.0, 3.0 * np.pi, len(FRAMES))[:, None] * np.array([0.0, 0.6, 0.8]))
    if flip:
        turn[30:] *= -1.0
    kept = keys.reduce(FRAMES, [Motion("quaternion", turn)], HALF)[0]
    off = angle(normalize(full(turn)), normalize(sparse(kept, turn)))
    assert off.max() <= HALF and len(kept.at) < 12  # 5, and 8 with the flip
    assert not flip or {29, 30} <= set(kept.at)


def test_uneven_and_few_frames(rng):
    frames = np.array([3.4, 4, 5, 6, 7, 8, 8.25])
    looks = np.linspace(3.4, 8.25, 60)
    turn = continuous(exp(smooth(rng, 1, 3, 0.2, frames)))[:, 0]
    kept = keys.reduce(frames, [Motion("quaternion", turn)], np.radians(2.0))[0]
    off = angle(normalize(full(turn, looks, frames)), normalize(sparse(kept, turn, looks, frames)))
    assert off.max() <= np.radians(2.0)
    for count in (2, 3):
        kept = keys.reduce(frames[:count], [Motion("quaternion", turn[:count])], 1e-9)[0]
        np.testing.assert_array_equal(kept.at, np.arange(count))
    assert keys.reduce(frames, [], 1.0) == []


@pytest.mark.parametrize("degrees", [0.1, 0.25])
def test_the_hosts_grain_counts_except_where_the_curves_are_the_full_bakes_own(degrees):
    """A host that takes half the angle from a float32 cosine shows tiny deltas off, seven bones of a neck alike."""
    fading = 0.1 * np.exp(-0.05 * (FRAMES - FRAMES[0])) * (1.0 + 0.2 * np.sin(0.7 * FRAMES))
    turn = exp(np.radians(fading)[:, None, None] * np.array([[1.0, 0, 0]] * 7))

    def host(q):
        cosine = np.minimum(q[:, 0], 1.0).astype(np.float32).astype(float)
        sine = np.linalg.norm(q[:, 1:], axis=-1, keepdims=True)
        axis = q[:, 1:] / np.where(sine > 0.0, sine, 1.0)
        return np.concatenate((cosine[:, None], np.sin(np.arccos(cosine))[:, None] * axis), axis=-1)

    motions = [Motion("quaternion", turn[:, b], parent=b - 1) for b in range(7)]
    found = keys.reduce(FRAMES, motions, np.radians(degrees), grain=9e-8)
    whole = thinned = np.array([[1.0, 0, 0, 0]])
    for b, kept in enumerate(found):
        whole = multiply(whole, host(normalize(full(turn[:, b]))))
        thinned = multiply(thinned, host(normalize(sparse(kept, turn[:, b]))))
    assert np.degrees(angle(whole, thinned).max()) <= degrees


def test_chains():
    np.testing.assert_array_equal(chains(np.array([-1, 0, 1, 1, 3, -1])), [4, 4, 3, 4, 4, 1])


def test_quick_enough_to_be_on_while_tuning(rng):
    """25 bones x 70 frames: all bones are tried at once, whatever their number."""
    turn = continuous(exp(smooth(rng, 25, 3, 0.3)))
    motions = [Motion("quaternion", turn[:, b], parent=b - 1 if b % 6 else -1) for b in range(25)]
    made = calls(lambda: keys.reduce(FRAMES, motions, HALF))
    print(made)
    assert made < 8400  # 7,940
