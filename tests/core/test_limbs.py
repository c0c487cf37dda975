"""Limbs: every body in one, connected, carriers after what they carry; long ropes in pieces."""

import numpy as np

from bench import trees
from core.limbs import SIZES, carriers, cut
from core.model import Model

from .trees import tree


def parts(model, sizes=SIZES):
    counts = np.array([len(joint) for joint in model.joints])
    return cut(np.where(model.parent < 0, -1, carriers(model.parent, counts > 0)[model.parent]), counts, sizes)


def test_limbs_are_connected_parts_of_the_tree(rng):
    for _ in range(50):
        model = tree(rng, int(rng.integers(2, 40)), free=bool(rng.integers(2)), kinds=("spherical", "hinge", "fixed"))
        sizes = (SIZES, (3, 0, 6))[rng.integers(2)]
        limbs = parts(model, sizes)
        assert sorted(i for limb in limbs for i in limb) == [i for i, joint in enumerate(model.joints) if len(joint)]
        for limb in limbs:
            assert sum(len(model.joints[i]) for i in limb) <= sizes[2]
            for i in limb[1:]:
                while (i := model.parent[i]) >= 0 and not len(model.joints[i]):
                    pass
                assert i in limb


def test_a_human_is_a_trunk_with_four_limbs():
    model, _ = trees.model(22)
    names = [[model.names[i].split(".")[0] for i in limb] for limb in parts(model)]
    assert names[0] == ["pelvis", "spine", "spine", "chest", "neck", "head"]
    assert (
        sorted(names[1:]) == [["clavicle", "upper_arm", "forearm", "hand"]] * 2 + [["thigh", "shin", "foot", "toe"]] * 2
    )
    assert [tier.shape for tier in model.limbs.tiers] == [(4, 4, 3), (1, 7, 3)]


def test_cost_grows_with_the_bones(rng):
    """A rope is cut into pieces, so the matrices that are solved grow no larger with it."""
    model = tree(rng, 60, kinds=("spherical",))
    rope = type(model)(model.names, np.arange(-1, 59), model.joints, model.inertia)
    assert max(tier.shape[1] * tier.shape[2] for tier in rope.limbs.tiers) <= SIZES[2]


def test_sums_along_the_tree_level_by_level(rng):
    """As the matrix of ancestors gives them, on trees whose bodies stand in any order, and with several roots."""
    for n in (1, 2, 30):
        model = tree(rng, n)
        model = Model(model.names, np.where(rng.random(n) < 0.1, -1, model.parent), model.joints, model.inertia)
        values = rng.normal(size=(3, n, 2))
        np.testing.assert_allclose(model.levels.outward(values), model.ancestor @ values, atol=1e-12)
        np.testing.assert_allclose(model.levels.inward(values), model.ancestor.T @ values, atol=1e-12)
        np.testing.assert_array_equal(model.levels.order[model.levels.place], np.arange(n))
