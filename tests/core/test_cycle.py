"""Loops: found where the ends meet after a rigid step, refused where they do not, laid end to end without a seam."""

import numpy as np
import pytest

from core import cycle, rotation

PARENT = np.array([-1, 0, 1, 2, 1, -1])  # a root, pelvis, two legs' worth of bones, and a loose root that stays


def poses(rng, step, carrier=0, gap_deg=0.0, gap_bone=3, own_deg=0.5):
    """First two and last two frames of a clip whose last pose is the first moved by `step` from `carrier` on."""
    n = len(PARENT)
    turn = rotation.normalize(rng.normal(size=(n, 4)))
    head = rng.normal(size=(n, 3))
    moved = rotation.exp(np.radians(own_deg) * np.array([1.0, 0.0, 0.0]))
    carried = np.array([b == carrier or (b > carrier and b != 5) for b in range(n)])
    last_turn = np.where(carried[:, None], rotation.multiply(step.rotation, turn), turn)
    last_head = np.where(carried[:, None], rotation.rotate(step.rotation, head) + step.translation, head)
    last_turn[gap_bone] = rotation.multiply(last_turn[gap_bone], rotation.exp(np.radians([0.0, gap_deg, 0.0])))
    rotations = np.stack((turn, rotation.multiply(turn, moved), rotation.multiply(last_turn, moved), last_turn))
    return rotations, np.stack((head, head, last_head, last_head))


def find(rotations, positions, object_rotation=None, object_position=None, scale=1.0):
    if object_rotation is None:
        object_rotation = np.tile(rotation.IDENTITY, (4, 1))
    if object_position is None:
        object_position = np.zeros((4, 3))
    return cycle.find(PARENT, rotations, positions, object_rotation, object_position, scale)


TURN = rotation.exp(np.array([0.0, 0.0, 0.7]))


@pytest.mark.parametrize("carrier", [0, 1])
@pytest.mark.parametrize("turn", [rotation.IDENTITY, TURN])
def test_finds_the_step_and_its_carrier(rng, carrier, turn):
    step = cycle.Step(turn, np.array([1.5, -0.4, 0.3]))
    loop = find(*poses(rng, step, carrier))
    assert loop.closes and loop.gap_deg < 1e-6
    assert list(loop.carriers) == [carrier]
    assert list(loop.carried) == [carrier == 0, True, True, True, True, False]
    assert rotation.angle(loop.body.rotation, turn) < 1e-9
    assert np.abs(loop.body.translation - step.translation).max() < 1e-9
    assert loop.whole.still


def test_in_place_loop_has_no_carriers(rng):
    loop = find(*poses(rng, cycle.STILL))
    assert loop.closes and loop.body.still and not len(loop.carriers)


def test_finds_the_objects_step(rng):
    rotations, positions = poses(rng, cycle.STILL)
    start = rotation.normalize(rng.normal(size=4))
    turns = np.stack((start, start, rotation.multiply(TURN, start), rotation.multiply(TURN, start)))
    places = np.array([[1.0, 2, 0], [1.0, 2, 0], [3.0, 2, 0], [3.0, 2, 0]])
    loop = find(rotations, positions, turns, places, 0.01)
    assert loop.closes and loop.body.still
    assert np.abs(rotation.rotate(loop.whole.rotation, places[0]) + loop.whole.translation - places[3]).max() < 1e-9


@pytest.mark.parametrize("mirrored", [1.0, -1.0])
def test_up_is_up_in_a_turned_object(rng, mirrored):
    """An armature lying on its side (as glTF imports them) still turns about the world's vertical."""
    lying = rotation.exp(np.array([np.pi / 2, 0.0, 0.0]))
    up = mirrored * rotation.rotate(rotation.conjugate(lying), np.array([0.0, 0.0, 1.0]))
    step = cycle.Step(rotation.exp(0.7 * up), np.array([1.0, 0.0, 0.5]))
    loop = find(*poses(rng, step), np.tile(lying, (4, 1)), scale=mirrored)
    assert loop.closes
    assert rotation.angle(loop.body.rotation, step.rotation) < 1e-9


@pytest.mark.parametrize(
    ("gap", "own", "closes"), [(2.5, 0.5, True), (7.7, 0.5, False), (7.7, 12.0, True), (60, 12, False)]
)
def test_gap(rng, gap, own, closes):
    """Below 3 degrees, or below what the joint itself turns in one frame there, the seam is smoothed."""
    loop = find(*poses(rng, cycle.STILL, gap_deg=gap, own_deg=own))
    assert loop.gap_deg == pytest.approx(gap) and loop.gap_bone == 3
    assert loop.closes is closes


def test_a_slid_joint_is_no_loop(rng):
    rotations, positions = poses(rng, cycle.STILL)
    positions[2:, 3] += 0.2 * np.ptp(positions[0], axis=0).max()
    assert not find(rotations, positions).closes


def test_powers_of_a_step(rng):
    step = cycle.Step(TURN, np.array([1.0, 2.0, 0.5]))
    x = rng.normal(size=3)
    turns, moves = step.times(np.array([3, 0, 1]))
    thrice = x
    for _ in range(3):
        thrice = rotation.rotate(step.rotation, thrice) + step.translation
    assert np.abs(rotation.rotate(turns[0], x) + moves[0] - thrice).max() < 1e-12
    assert np.abs(rotation.rotate(turns[1], x) + moves[1] - x).max() < 1e-12


def test_wrap():
    k, phase = cycle.wrap(np.array([10.0, 17.5, 18.0, 26.0, 33.9]), 10.0, 18.0)
    assert list(k) == [0, 0, 1, 2, 2]
    assert phase == pytest.approx([10.0, 17.5, 10.0, 10.0, 17.9])


def test_fade_starts_full_and_ends():
    share = cycle.fade(np.array([18.0, 20.0, 24.0, 26.0]), 18.0, 8.0, 24.0)
    assert share[0] == 1.0 and 0.0 < share[1] < 1.0 and share[2] == share[3] == 0.0


def test_closed_meets_both_ends(rng):
    first, last = rotation.normalize(rng.normal(size=(2, 5, 4)))
    turns = np.stack((first, last))
    out = cycle.closed(turns, first, last, np.array([1.0, 0.0]))
    assert rotation.angle(out[0], last).max() < 1e-9 and rotation.angle(out[1], last).max() < 1e-9
