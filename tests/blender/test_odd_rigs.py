"""Rigs that nobody draws: each reacts or is refused in a sentence, and Remove or the refusal leave all as it was."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from .interface_tools import OPS, names, short
from .layer_tools import differences, farthest, file_state, joints, set_frame

FRAMES = np.arange(1.0, 24.0)
ODD = {  # how bones are called: what survives Blender's own 63 bytes
    "upper_arm.L": 'uppér "arm" \\ 左.腕.L',
    "head": "h" * 63,
    "spine.02": "spine.02.001...",
    "pelvis": 'pose.bones["x"].location',
}


def chain(*heights, beside=()):
    """An armature of upright bones of these heights, each on the one before, and a second chain beside it; it nods."""
    rig = bpy.data.objects.new("Odd", bpy.data.armatures.new("Odd"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, x, each in (("A", 0.0, heights), ("B", 1.0, beside)):
        at, parent = 0.0, None
        for k, height in enumerate(each):
            bone = rig.data.edit_bones.new(name + str(k))
            bone.head, bone.tail, bone.parent = (x, 0.0, at), (x, 0.0, at + height), parent
            at, parent = at + height, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
        for frame, turn in ((1, 0.0), (12, 0.05), (24, 0.0)):
            bone.rotation_euler.x = turn
            bone.keyframe_insert("rotation_euler", frame=frame)
    short(rig)
    return rig


def edited(rig, change):
    bpy.ops.object.mode_set(mode="EDIT")
    change(rig.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")


def reacts(rig, struck, /, **options):
    """It reacts, the struck bone by more than a trifle, and Remove gives the file back."""
    set_frame(1)
    state, clip = file_state(), joints(rig, FRAMES)
    assert OPS.apply_hit_reaction(**options) == {"FINISHED"} and len(names(rig)) == 1
    shown = joints(rig, FRAMES)
    at = list(rig.pose.bones.keys()).index(struck)
    assert np.linalg.norm(shown - clip, axis=-1)[:, at].max() > 5.0  # [mm]
    assert farthest(shown[FRAMES <= 8.0], clip[FRAMES <= 8.0]) < 0.05
    OPS.remove_all()
    set_frame(1)
    assert differences(state, file_state()) == []


def refused(text, **options):
    set_frame(1)
    state = file_state()
    with pytest.raises(RuntimeError, match=text):
        OPS.apply_hit_reaction(**options)
    assert differences(state, file_state()) == []


def test_a_rig_without_roles_needs_a_bone_to_hit(fresh_scene):
    chain(0.5, 0.5)
    refused("needs a bone with the role 'upper_arm.L' or 'clavicle.L', which this rig lacks. Choose the bone to hit")


@pytest.mark.parametrize(
    "heights, beside, bone",
    [((1.0,), (), "A0"), ((0.5, 0.5), (), "A1"), ((0.1,) * 12, (), "A8"), ((0.5, 0.5), (0.5, 0.5), "B1")],
)
def test_chains(fresh_scene, heights, beside, bone):
    """A single bone, two, a tentacle, two roots: nothing has a role, the bone is named."""
    rig = chain(*heights, beside=beside)
    reacts(rig, bone, bone=bone, impulse=200.0, direction=(0.0, 1.0, 0.0))


def test_names(demo):
    """Letters of everywhere, quotes, backslashes, dots, an RNA path, all that Blender allows in length."""
    for bone, name in ODD.items():
        demo.data.bones[bone].name = name
    reacts(demo, ODD["upper_arm.L"], bone=ODD["upper_arm.L"])


def test_bones_of_no_length(demo):
    def shrink(bones):
        for name in ("spine.02", "forearm.L", "hand.R"):
            for child in bones[name].children:
                child.use_connect = False
            bones[name].tail = bones[name].head + Vector((0.0, 0.0, 2e-6))

    edited(demo, shrink)
    reacts(demo, "upper_arm.L")


def test_an_arm_that_hangs_on_nothing(demo):
    edited(demo, lambda bones: setattr(bones["clavicle.L"], "parent", None))
    reacts(demo, "upper_arm.L")


def test_bones_all_owned_by_drivers(demo):
    for bone in demo.pose.bones:
        for i in range(4):
            bone.driver_add("rotation_quaternion", i).driver.expression = "1.0 if {} == 0 else 0.1".format(i)
    refused("Bone '.*' is moved by a driver on its rotation_quaternion. Mute that, or exclude the bone")


def test_an_animated_carrier(demo):
    carrier = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    demo.parent = carrier
    for frame, x in ((1, 0.0), (24, 2.0)):
        carrier.location.x = carrier.rotation_euler.z = x
        carrier.keyframe_insert("location", frame=frame)
        carrier.keyframe_insert("rotation_euler", frame=frame)
    reacts(demo, "upper_arm.L")


def test_data_that_another_object_shares(demo):
    twin = demo.copy()
    bpy.context.scene.collection.objects.link(twin)
    twin.animation_data_clear()
    clip = joints(demo, FRAMES)
    assert OPS.apply_hit_reaction() == {"FINISHED"} and len(names(demo)) == 1 and names(twin) == []
    shown = joints(twin, FRAMES)
    assert farthest(shown, shown[:1]) == 0.0 and farthest(joints(demo, FRAMES), clip) > 5.0  # [mm]


def test_an_armature_without_bones(fresh_scene):
    rig = bpy.data.objects.new("Empty", bpy.data.armatures.new("Empty"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    for frame in (1, 20):
        rig.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()
    refused("The armature has no bones. Add bones or choose another armature.")
