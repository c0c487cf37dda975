"""Control values for a pose: on a planar arm whose angles are known, and on what no control can do."""

import numpy as np
import pytest

from core import probing
from core.rotation import exp, to_matrix

LENGTH = 0.5


def arm(lengths=(1.0, 0.8, 0.5)):
    """show(x): a chain of ball joints with a rotation vector each; x (9,)."""

    def show(x):
        R, p, at, turn = [], [], np.zeros(3), np.eye(3)
        for k, length in enumerate(lengths):
            turn = turn @ to_matrix(exp(x[3 * k : 3 * k + 3]))
            R.append(turn)
            p.append(at)
            at = at + turn @ (0.0, length, 0.0)
        return np.array(R), np.array(p)

    return show


def solver(show, d, m):
    reach = np.ones((d, m), dtype=bool)

    def refresh(x, pose):
        return probing.jacobian(show, x, pose, LENGTH, probing.colours(reach), reach)

    def carry(known, x, pose):
        return known

    return probing.Solver(show, refresh, carry, LENGTH, np.ones(6 * m), np.ones((6 * m, d), dtype=bool))


def test_a_chain_is_posed_as_wanted(rng):
    show = arm()
    solve = solver(show, 9, 3)
    x = np.zeros(9)
    for _ in range(5):
        wanted = x + rng.normal(size=9) * 0.4
        target = show(wanted)
        x, left = solve.solve(target, x)
        error = probing.difference(show(x), target, LENGTH)
        assert np.abs(error).max() < 4 * probing.TURN
        np.testing.assert_allclose(left, error, atol=1e-12)


def test_redundant_controls_share_the_turn_and_return_to_nothing():
    """Two controls that do the same: each turns by half, and at the end none is left turned."""
    one = arm((1.0,))

    def show(x):
        return one(x[:3] + x[3:])

    rest, bent = one(np.zeros(3)), one(np.array([0.6, 0.0, 0.0]))
    solve = solver(show, 6, 1)
    x = np.zeros(6)
    for target in (bent, bent, bent):
        x, _ = solve.solve(target, x)
    assert x[0] == pytest.approx(0.3, abs=2e-2) and x[0] + x[3] == pytest.approx(0.6, abs=1e-3)
    x = np.array([0.5, 0.0, 0.0, -0.3, 0.0, 0.0])  # a turn of both against each other
    for _ in range(30):
        x, _ = solve.solve(rest, x)
    assert np.abs(x).max() < 2e-2


def test_what_cannot_be_reached_is_left_as_near_as_it_can_be():
    """A hinge asked to bend and to twist bends, and says what is left."""
    one = arm((1.0,))

    def show(x):
        return one(np.array([x[0], 0.0, 0.0]))

    solve = solver(show, 1, 1)
    x, left = solve.solve(one(np.array([0.0, 0.3, 0.0])), np.zeros(1))
    assert abs(x[0]) < 1e-3 and np.abs(left).max() == pytest.approx(0.3, abs=1e-3)


def test_motions_of_joints_are_those_of_the_chain(rng):
    """The analytic motions against the chain itself, turned a little at each joint."""
    show, x = arm(), rng.normal(size=9) * 0.5
    pose = show(x)
    motions = probing.joint_motions([-1, 0, 1], pose, LENGTH)
    R, p = pose
    h = 1e-6
    for k in range(3):
        for axis in range(3):
            w = R[k] @ np.eye(3)[axis] * h
            turn = to_matrix(exp(w))
            below = range(k, 3)
            turned = np.array([turn @ R[i] if i in below else R[i] for i in range(3)])
            moved = np.array([p[k] + turn @ (p[i] - p[k]) if i in below else p[i] for i in range(3)])
            seen = probing.difference(pose, (turned, moved), LENGTH) / h
            np.testing.assert_allclose(motions[:, 3 * k + axis], seen, atol=1e-5)
    shifted = probing.difference(pose, (R, p + [0.0, 0.01, 0.0]), LENGTH)
    np.testing.assert_allclose(motions[:, 10] * 0.01 / LENGTH, shifted, atol=1e-12)


def test_a_lengthened_bone_carries_what_hangs_on_it(rng):
    """The shift of the second head, in its own axes, against the heads themselves; no joint makes it."""
    x = rng.normal(size=9) * 0.5
    R, p = arm()(x)
    longer = probing.lengthenings([-1, 0, 1], (R, p), LENGTH, [1])
    for axis in range(3):
        moved = p + np.outer([0.0, 1.0, 1.0], 1e-6 * R[1][:, axis])
        np.testing.assert_allclose(longer[:, axis], probing.difference((R, p), (R, moved), LENGTH) / 1e-6, atol=1e-7)
    along = longer @ (R[1].T @ R[0])[:, [1]]  # away from the bone above
    assert probing.within(along, probing.joint_motions([-1, 0, 1], (R, p), LENGTH)) < 0.9


def test_a_limb_that_is_nearly_straight_is_bent_by_placing_its_end():
    """Two links whose end is placed, as IK does: the bend answers like a square root, from 1 degree to 25 and back."""

    def show(x):
        bend = 2.0 * np.arccos(np.clip(1.0 - 0.01 * x[0], -1.0, 1.0))  # x: how far the end is drawn in
        R = to_matrix(exp(np.array([[-0.5 * bend, 0.0, 0.0], [0.5 * bend, 0.0, 0.0], [0.0, 0.0, 0.0]])))
        return R, np.array([[0.0, 0.0, 0.0], R[0] @ (0.0, 1.0, 0.0), (0.0, 2.0 - 0.02 * x[0], 0.0)])

    def pulled(bend):
        return np.array([(1.0 - np.cos(0.5 * np.radians(bend))) / 0.01])

    solve = solver(show, 1, 3)
    x = pulled(2.0)
    for bend in (1.0, 4.0, 12.0, 25.0, 10.0, 3.0, 1.0):
        x, left = solve.solve(show(pulled(bend)), x)
        assert np.abs(left).max() < 4 * probing.TURN, bend


def test_blocks_are_taken_in_order_and_only_for_something_new(rng):
    wanted = np.eye(12)[:, :6]
    first, again, other = np.eye(12)[:, :3], np.eye(12)[:, :3] @ rng.normal(size=(3, 3)), np.eye(12)[:, 3:5]
    taken, left = probing.choose([first, again, np.eye(12)[:, 8:10], other], wanted)
    assert taken == [0, 3]
    np.testing.assert_allclose(left, [0, 0, 0, 0, 0, 1], atol=1e-9)


def test_what_stretches_is_not_within_the_motions_of_joints():
    pose = arm()(np.zeros(9))
    motions = probing.joint_motions([-1, 0, 1], pose, LENGTH)
    bend = motions[:, [3]] + 0.5 * motions[:, [6]]
    stretch = np.zeros((18, 1))
    stretch[9 + 3 * 2 + 1] = 1.0  # the last head away along the chain
    assert probing.within(bend, motions) > 0.999 and probing.within(stretch, motions) < 0.9


def test_columns_that_move_different_bones_are_tried_together():
    moves = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    groups = probing.colours(moves)
    assert len(groups) == 2 and sorted(np.concatenate(groups)) == [0, 1, 2, 3]
    for group in groups:
        assert (moves[group].sum(axis=0) <= 1).all()


def test_a_jacobian_in_groups_is_that_one_by_one(rng):
    def show(x):
        a, b = arm((1.0,))(x[:3]), arm((1.0,))(x[3:])
        return np.concatenate((a[0], b[0])), np.concatenate((a[1], b[1] + [2.0, 0.0, 0.0]))

    x = rng.normal(size=6) * 0.3
    moves = np.repeat(np.eye(2, dtype=bool), 3, axis=0)
    pose = show(x)
    together = probing.jacobian(show, x, pose, LENGTH, probing.colours(moves), moves)
    single = probing.jacobian(show, x, pose, LENGTH, [np.array([k]) for k in range(6)], np.ones((6, 2), dtype=bool))
    assert len(probing.colours(moves)) == 3
    np.testing.assert_allclose(together, single, atol=1e-9)


def test_what_hangs_on_a_control_moves_as_it_does(rng):
    """The analytic columns of the chain's first joint and of a shift of all, against the chain itself."""
    show, x, h = arm(), rng.normal(size=9) * 0.5, 1e-6
    x[:3] = 0.0  # so that the joint's own axes are those of space
    pose = show(x)
    at = np.zeros((6, 3))
    columns = probing.carried(np.eye(6)[:, :3], np.eye(6)[:, 3:], at, pose, LENGTH)
    for axis in range(3):
        turned = x.copy()
        turned[axis] += h
        np.testing.assert_allclose(columns[:, axis], probing.difference(pose, show(turned), LENGTH) / h, atol=1e-5)
        shifted = (pose[0], pose[1] + h * np.eye(3)[axis])
        np.testing.assert_allclose(columns[:, 3 + axis], probing.difference(pose, shifted, LENGTH) / h, atol=1e-7)


def test_columns_tried_together_are_told_apart_from_what_is_known():
    """Two joints of one chain at once: the first carries the last bone as the second turns it."""
    show, x = arm((1.0, 0.8)), np.zeros(6)
    pose = show(x)
    moves = np.repeat(np.array([[1, 0], [0, 1]], dtype=bool), 3, axis=0)
    at = np.zeros((6, 3))
    carried = probing.carried(np.tile(np.eye(3), (2, 1)), np.zeros((6, 3)), at, pose, LENGTH)
    known = carried * np.outer(probing.rows(np.array([False, True])), [1, 1, 1, 0, 0, 0])
    groups = probing.colours(moves)
    assert len(groups) == 3
    together = probing.jacobian(show, x, pose, LENGTH, groups, moves, known)
    single = probing.jacobian(show, x, pose, LENGTH, [np.array([k]) for k in range(6)], np.ones((6, 2), dtype=bool))
    np.testing.assert_allclose(together, single, atol=3 * probing.STEP)


def test_a_step_teaches_only_the_entries_that_it_has_to_do_with():
    """After a step the Jacobian explains it, and zeros of bones that a control doesn't move stay zeros."""
    solve = solver(arm((1.0,)), 4, 1)
    solve.moves = np.array([[1, 1, 0, 0]] * 3 + [[0, 0, 1, 0]] * 3, dtype=bool)
    wrong, step = np.arange(1.0, 7.0), np.array([0.1, 0.2, 0.3, 0.4])
    lesson = solve._lesson(wrong, step)
    np.testing.assert_allclose(lesson @ step, wrong)
    assert (lesson[~solve.moves] == 0.0).all()
    solve.moves = np.zeros((6, 4), dtype=bool)
    assert (solve._lesson(wrong, step) == 0.0).all()
