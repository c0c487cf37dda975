"""Life after Apply: several reactions, changes by hand, duplicates, overrides, failures, refusals."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, delta, layer, nla
from bl_ext.user_default.parametric_dynamics.blender_addon.channels import Target
from bl_ext.user_default.parametric_dynamics.core import rotation
from bl_ext.user_default.parametric_dynamics.core.errors import CoreError

from tests.blender import layer_tools as tools

MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE", "QUATERNION")
FRAMES = np.array([-30.0, 1.0, 5.5, 12.0, 18.0, 24.0, 40.0, 80.0])


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def rig(fresh_scene, rng):
    tools.ensure_records()
    rig = tools.tripod(MODES)
    tools.key_pose(rig, rng, (1, 12, 24), ["bone.0", "bone.1", "bone.3"])
    rig.pose.bones["bone.2"].rotation_euler = (0.4, 0.5, 0.6)
    rig.pose.bones["bone.4"].rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
    rig.pose.bones["bone.4"].location = (0.1, 0.0, 0.2)
    rig.animation_data.action.name = "Walk"
    for action in bpy.data.actions:
        action.use_fake_user = True
    tools.set_frame(4)
    return rig


def hit(rig, name, first=8, bones=("bone.0", "bone.2", "bone.4"), peak=0.5, **options):
    """A small real reaction over ten frames."""
    frames = np.arange(first, first + 10.0)
    base = tools.read_channels(rig, frames)
    tools.set_frame(4)
    swing = rotation.exp(peak * np.sin(np.linspace(0, np.pi, 10))[:, None] * np.array([0.6, 0.3, 0.7]))
    swing[-1] = rotation.IDENTITY
    targets = {}
    for bone in bones:
        mode = rig.pose.bones[bone].rotation_mode
        stored = {"QUATERNION": base.quaternion, "AXIS_ANGLE": base.axis_angle}.get(mode, base.euler)
        turned = delta.combine(mode, stored[:, base.names.index(bone)], delta_zero(mode))
        targets[bone] = Target(rotation=rotation.multiply(turned, swing))
    return layer.apply(bpy.context, rig, name=name, frames=frames, targets=targets, base=base, **options)


def delta_zero(mode):
    return rotation.IDENTITY if mode == "QUATERNION" else np.zeros(4 if mode == "AXIS_ANGLE" else 3)


class Before:
    """The file and the motion as they were, to be compared with."""

    def __init__(self, rig):
        self.name = rig.name
        self.motion = tools.joints(rig, FRAMES)
        tools.set_frame(4)
        self.state = tools.file_state()

    def check(self):
        rig = bpy.data.objects[self.name]
        assert tools.farthest(self.motion, tools.joints(rig, FRAMES)) <= tools.LIMIT
        tools.set_frame(4)
        assert tools.differences(self.state, tools.file_state()) == []


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_several_reactions_removed_in_any_order(rig, order):
    before = Before(rig)
    names = [hit(rig, "Hit", 6), hit(rig, "Hit", 14, bones=("bone.2", "bone.3")), hit(rig, "Late", 30)]
    assert names == ["Hit", "Hit.001", "Late"]
    assert [r.name for r in layer.reactions(rig)] == names and all(r.intact for r in layer.reactions(rig))
    motions = {}
    for index in order:
        others = [i for i in range(3) if i != index and names[i] in [r.name for r in layer.reactions(rig)]]
        layer.remove(bpy.context, rig, names[index])
        motions[tuple(others)] = tools.joints(rig, FRAMES)
        tools.set_frame(11)
        outside = FRAMES[(FRAMES < 6) | (FRAMES > 40)]
        still = tools.joints(rig, outside)
        assert tools.farthest(still, before.motion[np.isin(FRAMES, outside)]) <= tools.LIMIT
    before.check()
    assert layer.reactions(rig) == ()


def test_removing_one_leaves_the_others_pose(rig):
    hit(rig, "A", 6)
    alone = tools.joints(rig, np.arange(6.0, 16.0))
    hit(rig, "B", 20, bones=("bone.2", "bone.3", "bone.4"))
    layer.remove(bpy.context, rig, "B")
    assert tools.farthest(alone, tools.joints(rig, np.arange(6.0, 16.0))) <= tools.LIMIT


def test_renamed_and_moved_by_the_user(rig):
    before = Before(rig)
    name = hit(rig, "Hit")
    tracks = rig.animation_data.nla_tracks
    for i, track in enumerate(tracks):
        track.name = f"Mine {i}"
    bpy.data.actions[name].name = "Renamed"
    assert layer.reactions(rig)[0].intact
    assert layer.remove(bpy.context, rig, name) == ()
    before.check()


def test_renamed_by_the_addon(rig):
    before = Before(rig)
    hit(rig, "Hit")
    hit(rig, "Other", 20)
    bpy.data.actions.remove(bpy.data.actions["Hit hold"])
    assert layer.rename(rig, "Hit", "Other") == "Other.001"
    assert "Other.001" in bpy.data.actions and "Other.001" in rig.animation_data.nla_tracks
    assert [r.name for r in layer.reactions(rig)] == ["Other.001", "Other"]
    layer.remove(bpy.context, rig, "Other.001")
    layer.remove(bpy.context, rig, "Other")
    before.check()


def test_a_further_track_of_the_users_action_stays(rig):
    """The pushed-down track was renamed, and the user has laid the same action above it."""
    name = hit(rig, "Hit")
    anim = rig.animation_data
    anim.nla_tracks["Walk"].name = "Mine"
    again = anim.nla_tracks.new().strips.new("again", 40, bpy.data.actions["Walk"])
    again.name = "again"  # Blender 4.3 names a new strip after its action whatever it is told
    layer.remove(bpy.context, rig, name)
    assert [[strip.name for strip in track.strips] for track in anim.nla_tracks] == [["again"]]
    assert anim.action.name == "Walk"


@pytest.mark.parametrize("which", range(3))
def test_a_track_deleted_by_the_user(rig, which):
    before = Before(rig)
    name = hit(rig, "Hit")
    tracks = rig.animation_data.nla_tracks
    assert len(tracks) == 3
    tracks.remove(tracks[which])
    assert layer.reactions(rig)[0].intact == (which != 2)
    layer.remove(bpy.context, rig, name)
    before.check()


def test_actions_deleted_by_the_user(rig):
    before = Before(rig)
    name = hit(rig, "Hit")
    for action in list(bpy.data.actions):
        if action.name != "Walk":
            bpy.data.actions.remove(action)
    assert not layer.reactions(rig)[0].intact
    layer.remove(bpy.context, rig, name)
    before.check()


def test_the_base_action_deleted_by_the_user(rig):
    name = hit(rig, "Hit")
    bpy.data.actions.remove(bpy.data.actions["Walk"])
    notes = layer.remove(bpy.context, rig, name)
    assert notes == ("The action that was active on 'Tripod' has been deleted: none is active now.",)
    assert list(bpy.data.actions) == [] and len(rig.animation_data.nla_tracks) == 0


def test_a_new_key_after_apply(rig):
    """It makes a new active action over everything: a further reaction is refused, Remove keeps the user's keys."""
    name = hit(rig, "Hit")
    rig.pose.bones["bone.3"].keyframe_insert("location", frame=5)
    new = rig.animation_data.action
    assert new is not None
    slot = actions.slot_identifier(rig.animation_data)
    actions.assign(rig.animation_data, new, slot)  # keyframe_insert alone leaves the dependency graph as it was
    with pytest.raises(layer.LayerError, match=f"The action '{new.name}' lies over the reactions of 'Tripod'"):
        hit(rig, "Second")
    motion = tools.joints(rig, [1.0, 24.0])
    notes = layer.remove(bpy.context, rig, name)
    assert len(notes) == 1 and new.name in notes[0]
    assert rig.animation_data.action == new
    assert tools.farthest(motion, tools.joints(rig, [1.0, 24.0])) <= tools.LIMIT


def test_a_strip_of_ours_used_elsewhere_keeps_its_action(rig):
    name = hit(rig, "Hit")
    other = tools.tripod(("QUATERNION",))
    other.animation_data_create().nla_tracks.new().strips.new("copy", 1, bpy.data.actions[name])
    layer.remove(bpy.context, rig, name)
    assert name in bpy.data.actions


def test_duplicated_rig(rig):
    """Blender copies the actions with the object: both rigs are undone each for itself."""
    before = Before(rig)
    name = hit(rig, "Hit")
    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy != rig
    hit(copy, "Second", 30)
    layer.remove(bpy.context, copy, name)
    layer.remove(bpy.context, copy, layer.reactions(copy)[0].name)
    assert tools.farthest(before.motion, tools.joints(copy, FRAMES)) <= tools.LIMIT
    assert copy.animation_data.action is not None and len(copy.animation_data.nla_tracks) == 0
    assert layer.reactions(rig)[0].intact
    layer.remove(bpy.context, rig, name)
    extra = {action.name for action in bpy.data.actions} - {"Walk", copy.animation_data.action.name}
    assert extra == set()
    if copy.animation_data.action != rig.animation_data.action:
        bpy.data.actions.remove(copy.animation_data.action)
    bpy.data.objects.remove(copy)
    before.check()


def test_undo_and_redo(rig):
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="before")
    motion = tools.joints(rig, FRAMES)
    tools.set_frame(4)
    hit(rig, "Hit")
    applied = tools.joints(rig, [12.0])
    bpy.ops.ed.undo_push(message="hit")
    if not bpy.ops.ed.undo.poll():
        pytest.skip("no undo without a window")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Tripod"]
    assert layer.reactions(rig) == () and len(rig.animation_data.nla_tracks) == 0
    assert tools.farthest(motion, tools.joints(rig, FRAMES)) <= tools.LIMIT
    bpy.ops.ed.redo()
    rig = bpy.data.objects["Tripod"]
    assert tools.farthest(applied, tools.joints(rig, [12.0])) <= tools.LIMIT
    layer.remove(bpy.context, rig, "Hit")
    assert tools.farthest(motion, tools.joints(rig, FRAMES)) <= tools.LIMIT


@pytest.mark.parametrize("failing", range(5))
def test_a_failure_while_writing_changes_nothing(rig, monkeypatch, failing):
    before = Before(rig)
    calls = []
    for module, name in ((actions, "create"), (nla, "new_strip")):
        real = getattr(module, name)

        def stub(*args, real=real, **kwargs):
            calls.append(real)
            if len(calls) > failing:
                raise RuntimeError("no room")
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, stub)
    with pytest.raises(RuntimeError, match="no room"):
        hit(rig, "Hit")
    monkeypatch.undo()
    before.check()
    assert layer.reactions(rig) == ()


def test_continuation_goes_on_and_comes_off(rig, rng):
    rig.keyframe_insert("location", frame=1)
    rig.location.x = 2.0
    rig.keyframe_insert("location", frame=24)
    before = Before(rig)
    frames = np.arange(18.0, 40.0)
    base = tools.read_channels(rig, frames)
    tools.set_frame(4)
    after = frames > 24
    for values in (base.quaternion, base.euler, base.axis_angle, base.location):
        values[after] += 0.1 * rng.normal(size=values[after].shape)
    base.object_location[after, 0] += 0.1 * np.arange(1, after.sum() + 1)
    going = {k: v[after] if isinstance(v, np.ndarray) else v for k, v in vars(base).items()}
    keyed = [base.names.index(n) for n in ("bone.0", "bone.1", "bone.3")]
    name = layer.apply(
        bpy.context, rig, name="Hit", frames=frames, base=base, continuation=type(base)(**going),
        targets={"bone.2": Target(rotation=np.tile(rotation.exp(np.array([0.1, 0, 0])), (len(frames), 1)))},
    )  # fmt: skip
    till = FRAMES[FRAMES <= 24]
    quiet = [i for i in range(2)]  # what hangs below bone.2 is moved by the reaction
    assert tools.farthest(before.motion[: len(till), quiet], tools.joints(rig, till)[:, quiet]) <= tools.LIMIT
    got = tools.read_channels(rig, frames[after])
    assert np.max(np.abs(got.object_location - base.object_location[after])) < 1e-6
    for i in keyed:
        want = {"QUATERNION": base.quaternion, "AXIS_ANGLE": base.axis_angle}.get(base.modes[i], base.euler)[after, i]
        have = {"QUATERNION": got.quaternion, "AXIS_ANGLE": got.axis_angle}.get(base.modes[i], got.euler)[:, i]
        assert np.max(np.abs(want - have)) < 1e-6 or np.max(np.abs(np.abs(want) - np.abs(have))) < 1e-6
    held = tools.read_channels(rig, [39.0, 90.0])
    assert np.array_equal(held.object_location[0], held.object_location[1])
    half = tools.read_channels(rig, [24.0, 24.5, 25.0]).object_location[:, 0]
    assert abs(half[1] - 0.5 * (half[0] + half[2])) < 1e-5  # no step after the clip's last frame
    hit(rig, "Second", 50)
    layer.remove(bpy.context, rig, name)
    layer.remove(bpy.context, rig, "Second")
    before.check()


def refused(rig, match):
    state = tools.file_state()
    with pytest.raises(CoreError, match=match):
        layer.apply_identity(bpy.context, rig, name="Hit", frames=[2, 9])
    assert tools.differences(state, tools.file_state()) == []


def test_refusals_name_the_thing_and_the_cure(rig):
    empty = bpy.data.objects.new("Empty", None)
    refused(empty, r"needs an armature\. Select one\.")
    refused(tools.tripod(("XYZ",)), r"'Tripod\.001' has no animation\. Give it an action")
    anim = rig.animation_data
    track = anim.nla_tracks.new()
    strip = track.strips.new("Strip", 1, anim.action)
    anim.action = None
    track.mute = True
    refused(rig, "Nothing plays on armature 'Tripod'")
    track.mute = False
    strip.select = True
    anim.use_tweak_mode = True
    if anim.use_tweak_mode:
        refused(rig, r"'Tripod' is in tweak mode\. Leave it")
        anim.use_tweak_mode = False
    with pytest.raises(CoreError, match="has no reaction 'Nothing'"):
        layer.remove(bpy.context, rig, "Nothing")
    base = tools.read_channels(rig, [2.0, 9.0])
    with pytest.raises(CoreError, match="has no bone 'tail'"):
        layer.apply(bpy.context, rig, name="Hit", frames=[2, 9], targets={"tail": Target()}, base=base)
    rig.pose.bones["bone.3"].lock_rotation = (True, True, True)
    target = {"bone.3": Target(rotation=np.tile(rotation.IDENTITY, (2, 1)))}
    with pytest.raises(CoreError, match="No channel of the chosen bones"):
        layer.apply(bpy.context, rig, name="Hit", frames=[2, 9], targets=target, base=base)


def test_linked_is_refused_and_an_override_is_taken(rig, tmp_path):
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = ["Tripod"]
    linked = into.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.update()
    refused(linked, "'Tripod' is linked from .* Choose Object > Library Override > Make")
    local = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    local = next(o for o in bpy.context.scene.objects if o.override_library is not None and o.type == "ARMATURE")
    before = Before(local)
    name = hit(local, "Hit")
    applied = tools.joints(local, FRAMES)
    assert tools.farthest(before.motion, applied) > 1.0
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    local = next(o for o in bpy.context.scene.objects if o.override_library is not None and o.type == "ARMATURE")
    assert tools.farthest(applied, tools.joints(local, FRAMES)) <= tools.LIMIT
    assert [r.name for r in layer.reactions(local)] == [name]
    assert layer.remove(bpy.context, local, name) == ()
    assert tools.farthest(before.motion, tools.joints(local, FRAMES)) <= tools.LIMIT
    assert local.animation_data.action is not None and len(local.animation_data.nla_tracks) == 0
