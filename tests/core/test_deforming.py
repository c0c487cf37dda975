"""The deforming bones of control rigs as a body: a small rig with mechanism between them."""

from dataclasses import replace

import numpy as np

from core.deforming import deforming
from core.skeleton import Skeleton, Skin

#        name          parent  head             tail             deforms
BONES = [
    ("root", -1, (0, 0, 0), (0, 1, 0), False),
    ("hips", 0, (0, 0, 1), (0, -1, 1), False),
    ("MCH-spine", 1, (0, 0, 1), (0, 0, 1.5), False),
    ("DEF-spine", 0, (0, 0, 1), (0, 0, 1.5), True),
    ("DEF-chest", 0, (0, 0, 1.5), (0, 0, 2), True),
    ("ORG-arm", 2, (0.2, 0, 1.4), (0.5, 0, 1.4), False),
    ("DEF-arm", 5, (0.2, 0, 1.4), (0.35, 0, 1.4), True),
    ("DEF-arm.001", 6, (0.35, 0, 1.4), (0.5, 0, 1.4), True),
    ("tweak", 5, (0.5, 0, 1.4), (0.6, 0, 1.4), False),
    ("DEF-hand", 8, (0.5, 0, 1.4), (0.6, 0, 1.4), True),
    ("DEF-prop", 9, (0.7, 0, 1.4), (0.8, 0, 1.4), True),
]


def skeleton(skin=None):
    names, parent, head, tail, deform = zip(*BONES, strict=True)
    n = len(names)
    rotation = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    points = (np.array(points, dtype=float) for points in (head, tail))
    return Skeleton(names, np.array(parent), *points, rotation, np.array(deform), skin)


def parents(body):
    return {n: body.names[p] if p >= 0 else "" for n, p in zip(body.names, body.parent, strict=True)}


def test_bones_hang_from_each_other_as_the_body_does():
    whole = skeleton()
    kept = whole.deform | np.array([name == "root" for name in whole.names])
    body, rows = deforming(whole, kept)
    assert parents(body) == {
        "root": "",
        "DEF-spine": "root",
        "DEF-chest": "DEF-spine",  # it begins at the spine's tail; its rig parent does not deform
        "DEF-arm": "DEF-spine",  # the mechanism above it lies on the spine
        "DEF-arm.001": "DEF-arm",
        "DEF-hand": "DEF-arm.001",
        "DEF-prop": "DEF-hand",
    }
    assert [whole.names[i] for i in rows] == list(body.names)
    np.testing.assert_array_equal(body.head, whole.head[rows])


def test_a_ring_of_tails_falls_back_on_the_rig():
    """Each of three bones begins where another ends, as around an ear: none may be its own ancestor."""
    names = ("head", "a", "b", "c")
    corners = np.array([[0, 0, 0], [1.0, 0, 0], [2, 0, 0], [1, 1, 0]])
    tails = np.array([[0, 0, 1], [2.0, 0, 0], [1, 1, 0], [1, 0, 0]])
    ring = Skeleton(
        names,
        np.array([-1, 0, 0, 0]),
        corners,
        tails,
        np.tile([1.0, 0, 0, 0], (4, 1)),
        np.array([0, 1, 1, 1], dtype=bool),
    )
    body, _ = deforming(ring, np.ones(4, dtype=bool))
    assert all(p < i for i, p in enumerate(body.parent))
    assert sorted(parents(body).values()) == ["", "a", "b", "head"]


def test_the_skin_of_mechanism_goes_to_the_bone_that_carries_it():
    names = [name for name, *_ in BONES]
    owner = np.array([names.index("DEF-hand"), names.index("tweak"), names.index("hips"), -1])
    whole = skeleton(Skin(np.zeros((4, 3)), np.zeros((0, 3), dtype=int), owner))
    body, _ = deforming(whole, whole.deform)
    carried = [body.names[i] if i >= 0 else "" for i in body.skin.owner]
    assert carried == ["DEF-hand", "DEF-hand", "", ""]
    assert body.skin.bones is None
    mixed = replace(whole.skin, bones=np.stack((owner, np.roll(owner, 1)), axis=-1), weights=np.full((4, 2), 0.5))
    body, _ = deforming(replace(whole, skin=mixed), whole.deform)
    assert np.array_equal(body.skin.bones, np.stack((body.skin.owner, np.roll(body.skin.owner, 1)), axis=-1))
