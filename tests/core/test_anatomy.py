"""Roles, anatomical tree, directions and size of made-up figures."""

from dataclasses import replace

import numpy as np
import pytest

from core.anatomy import analyse, hinge_axis
from core.errors import CoreError
from core.rotation import exp, rotate

from .figures import DOG, HUMAN, build, mirrored, moved, renamed
from .test_react import clip_of, hit_on

EXPECTED = {
    "root": "root", "pelvis": "pelvis", "spine.01": "spine.1", "spine.02": "spine.2", "neck": "neck.1", "head": "head",
    **{f"{part}.{side}": f"{part}.{side}" for side in "LR" for part in
       ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")},
}  # fmt: skip
TURNS = [(1, 0, 0, 0), (1, 1, 0, 0), (1, -1, 0, 0), (1, 0, 0, 1), (0, 1, 0, 0), (1, 1, 1, 1), (0.9, 0.3, -0.2, 0.1)]


def named_roles(skeleton, anatomy):
    return dict(zip(skeleton.names, anatomy.role, strict=True))


def parent_name(skeleton, anatomy, name):
    parent = anatomy.parent[skeleton.index(name)]
    return skeleton.names[parent] if parent >= 0 else None


def test_a_human():
    skeleton = build()
    anatomy = analyse(skeleton)
    assert named_roles(skeleton, anatomy) == EXPECTED
    assert anatomy.kind == "biped" and anatomy.fallback == ""
    np.testing.assert_array_equal(anatomy.parent, skeleton.parent)
    np.testing.assert_allclose([anatomy.up, anatomy.forward, anatomy.left], [[0, 0, 1], [0, -1, 0], [1, 0, 0]])
    assert anatomy.size == pytest.approx(1.8) and anatomy.floor == pytest.approx(0.0)


def test_height_by_skin_and_by_bones_alone():
    assert analyse(build(skin=True)).size == pytest.approx(1.8, rel=0.05)
    assert analyse(build(tails=False)).size == pytest.approx(1.8, rel=0.05)  # from the height of the skull's base


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("joints", [HUMAN, DOG], ids=["human", "dog"])
def test_directions_follow_the_figure(turn, joints):
    plain, skeleton = build(joints), moved(build(joints), turn, 0.013, (3.0, -2.0, 1.0))
    before, after = analyse(plain), analyse(skeleton)
    turn = np.array(turn) / np.linalg.norm(turn)
    # Away from the axes the directions come from joints, which are not exactly plumb.
    tolerance = 1e-9 if np.abs(turn)[0] != 0.9230769 and len(set(np.abs(turn))) <= 2 else 0.35
    for name in ("up", "forward", "left"):
        assert rotate(turn, getattr(before, name)) @ getattr(after, name) > 1.0 - tolerance
    assert after.role == before.role and after.kind == before.kind
    assert np.cross(after.forward, after.left) @ after.up == pytest.approx(1.0)


def test_a_dog():
    skeleton = build(DOG)
    anatomy = analyse(skeleton)
    roles = named_roles(skeleton, anatomy)
    assert anatomy.kind == "quadruped"
    assert roles["FrontUpperLeg.L"] == "upper_arm.L" and roles["FrontFoot.R"] == "hand.R"
    assert roles["BackUpperLeg.L"] == "thigh.L" and roles["BackFoot.R"] == "foot.R"
    assert roles["Tail1"] == "tail.1" and roles["Tail2"] == "tail.2" and roles["Spine2"] == "spine.2"
    np.testing.assert_allclose(anatomy.forward, [0, -1, 0])
    assert anatomy.size == pytest.approx(2 * 0.7)


@pytest.mark.parametrize("skin", [False, True])
@pytest.mark.parametrize("turn", TURNS[:6])
def test_nameless_humans_are_found_by_shape(skin, turn):
    skeleton = moved(build(skin=skin), turn, 3.0)
    named, nameless = analyse(skeleton), analyse(renamed(skeleton))
    assert nameless.role == named.role
    np.testing.assert_array_equal(nameless.parent, named.parent)
    np.testing.assert_allclose(nameless.forward, named.forward, atol=1e-9)
    assert nameless.size == pytest.approx(named.size)
    assert "guessed" in nameless.fallback


def test_nameless_dog():
    named, nameless = analyse(build(DOG)), analyse(renamed(build(DOG)))
    assert nameless.kind == "quadruped"
    np.testing.assert_allclose(nameless.forward, named.forward)
    assert sum(a != b for a, b in zip(nameless.role, named.role, strict=True)) <= 2


def test_feet_decide_when_left_and_right_are_mislabelled():
    skeleton = mirrored(build())
    anatomy = analyse(skeleton)
    assert named_roles(skeleton, anatomy)["thigh.L"] == "thigh.R"
    np.testing.assert_allclose([anatomy.forward, anatomy.left], [[0, -1, 0], [1, 0, 0]])
    assert "contradict" in anatomy.fallback


def test_feet_on_the_root_and_legs_on_a_body_bone():
    """As game rigs hang them: the foot belongs to the shin, the legs' carrier is the pelvis, "hips" its girdle."""
    skeleton = build(
        **{
            "pelvis": None,
            "Body": ("root", (0, 0, 0.95), (0, 0, 1.0)),
            "Hips": ("Body", (0, 0, 0.97), (0, 0, 1.05)),
            "spine.01": ("Hips", (0, 0, 1.05), (0, 0, 1.25)),
            "thigh.L": ("Body", (0.1, 0, 0.92), (0.1, -0.02, 0.5)),
            "foot.L": ("root", (0.1, 0.02, 0.09), (0.1, -0.12, 0.02)),
            "PoleTarget.L": ("root", (0.1, -0.8, 0.5), (0.1, -0.8, 0.6)),
        }
    )
    anatomy = analyse(skeleton)
    roles = named_roles(skeleton, anatomy)
    assert roles["Body"] == "pelvis" and roles["Hips"] == "hip" and roles["spine.01"] == "spine.1"
    assert parent_name(skeleton, anatomy, "foot.L") == "shin.L" and parent_name(skeleton, anatomy, "foot.R") == "shin.R"
    assert parent_name(skeleton, anatomy, "thigh.L") == "Body"
    assert roles["PoleTarget.L"] == "helper"


def test_arms_on_the_pelvis_are_hung_on_the_spine_beside_them():
    """As a tyrannosaur's are: its trunk turned and its arms stayed.  Where the pelvis is nearer they stay on it."""
    high, low = ("pelvis", (0.03, 0, 1.45), (0.18, 0, 1.45)), ("pelvis", (0.03, 0, 0.96), (0.18, 0, 1.0))
    for clavicle, carrier in ((high, "spine.02"), (low, "pelvis")):
        skeleton = build(**{"clavicle.L": clavicle})
        assert parent_name(skeleton, analyse(skeleton), "clavicle.L") == carrier
        assert parent_name(skeleton, analyse(skeleton), "clavicle.R") == carrier


def test_a_bone_that_a_rig_lacks_is_refused_with_those_most_like_it():
    with pytest.raises(CoreError, match=r"no bone 'spine\.03'\. Choose one of its 22 bones, such as 'spine\.0"):
        build().index("spine.03")
    with pytest.raises(CoreError, match=r"no bone 'QQ'\. Choose one of its 22 bones\.$"):
        build().index("QQ")


def test_limbs_without_a_parent_are_hung_where_they_belong():
    skeleton = build(
        **{
            "thigh.L": (None, (0.1, 0, 0.92), (0.1, -0.02, 0.5)),
            "clavicle.L": (None, (0.03, 0, 1.45), (0.18, 0, 1.45)),
        }
    )
    anatomy = analyse(skeleton)
    assert parent_name(skeleton, anatomy, "thigh.L") == "pelvis"
    assert parent_name(skeleton, anatomy, "clavicle.R") == "spine.02"
    assert sorted(anatomy.order.tolist()) == list(range(len(skeleton.names)))
    rank = {int(i): k for k, i in enumerate(anatomy.order)}
    assert all(rank[int(p)] < rank[i] for i, p in enumerate(anatomy.parent) if p >= 0)


def test_legs_on_the_lowest_spine_bone_belong_to_the_pelvis():
    skeleton = build(**{"thigh.L": ("spine.01", (0.1, 0, 0.92), (0.1, -0.02, 0.5))})
    anatomy = analyse(skeleton)
    assert parent_name(skeleton, anatomy, "thigh.L") == "pelvis"
    assert named_roles(skeleton, anatomy)["pelvis"] == "pelvis"


def test_halves_of_a_skull_are_parts_of_the_head():
    """Rigify's bird has such bones; none of its own is moved by a control."""
    skeleton = build(**{"skull.L": ("head", (0.01, 0, 1.7), (0.05, 0, 1.75))})
    anatomy = analyse(skeleton)
    assert named_roles(skeleton, anatomy) == {**EXPECTED, "skull.L": "", "skull.R": ""}
    assert parent_name(skeleton, anatomy, "skull.R") == "head"
    assert analyse(skeleton, {"skull.L": "head"}).role[skeleton.index("skull.L")] == "head"


def test_overrides_are_stronger():
    skeleton = build()
    anatomy = analyse(skeleton, {"toe.L": "helper", "neck": "spine"})
    assert anatomy.role[skeleton.index("toe.L")] == "helper"
    assert anatomy.role[skeleton.index("neck")] == "spine.3"
    with pytest.raises(CoreError, match="no bone role"):
        analyse(skeleton, {"toe.L": "wheel"})
    with pytest.raises(CoreError, match="no bone 'nose'"):
        analyse(skeleton, {"nose": "head"})


@pytest.mark.parametrize("turn", TURNS[:6])
def test_hinges_flex_knees_back_and_elbows_forward(turn):
    skeleton = moved(build(), turn)
    anatomy = analyse(skeleton)
    for role, sense in (("shin.L", -1), ("shin.R", -1), ("forearm.L", 1), ("forearm.R", 1)):
        bone = anatomy.bone(role)
        axis = rotate(skeleton.rotation[bone], hinge_axis(skeleton, anatomy, bone))
        assert np.linalg.norm(axis) == pytest.approx(1.0)
        end = anatomy.bone(role.replace("shin", "foot").replace("forearm", "hand"))
        segment = skeleton.head[end] - skeleton.head[bone]
        flexed = rotate(exp(0.5 * axis), segment) - segment
        assert sense * (flexed @ anatomy.forward) > 0.3 * np.linalg.norm(segment)
    assert hinge_axis(skeleton, anatomy, anatomy.bone("head")) is None


def test_a_shin_without_a_length_has_the_axis_of_the_figure():
    """Its knee and ankle coincide; the reaction is whole."""
    skeleton = build()
    head = skeleton.head.copy()
    head[skeleton.names.index("foot.L")] = head[skeleton.names.index("shin.L")]
    skeleton = replace(skeleton, head=head)
    anatomy = analyse(skeleton)
    bone = anatomy.bone("shin.L")
    axis = rotate(skeleton.rotation[bone], hinge_axis(skeleton, anatomy, bone))
    np.testing.assert_allclose(axis, anatomy.left, atol=1e-9)
    reaction = hit_on(skeleton, "leg_front")
    assert all(np.isfinite(pose).all() for pose in reaction.poses(clip_of(skeleton)))


def test_a_rest_pose_bent_the_other_way_keeps_its_anatomy_unless_it_is_bent_far():
    """A knee that is a few degrees overstretched at rest still flexes backward."""
    straight = build(**{"shin.L": ("thigh.L", (0.1, 0.02, 0.5), (0.1, 0.0, 0.09))})
    anatomy = analyse(straight)
    bone = anatomy.bone("shin.L")
    axis = rotate(straight.rotation[bone], hinge_axis(straight, anatomy, bone))
    np.testing.assert_allclose(axis, anatomy.left, atol=0.05)


def test_things_that_are_no_figure():
    for skeleton in (
        build({"Bone": (None, (0, 0, 0), (0, 0, 1))}),
        build({"a": (None, (0, 0, 0), (0, 0, 1)), "b": ("a", (0, 0, 1), (0, 0, 2)), "c": ("b", (0, 0, 2), (0, 1, 2))}),
        build({"a": (None, (0, 0, 0), (0, 0, 0.1)), "b": (None, (0, 0, 0), (0, 0, 0.1))}),
    ):
        anatomy = analyse(skeleton)
        assert anatomy.kind == "other" and anatomy.size > 0.0 and len(anatomy.order) == len(skeleton.names)
        assert np.cross(anatomy.forward, anatomy.left) @ anatomy.up == pytest.approx(1.0)
