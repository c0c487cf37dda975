"""A rig whose armature object carries the walk (pab_walk): its pelvis reacts, what hangs on the object does not."""

import bpy
import numpy as np
import pytest

from .interface_tools import OPS, names
from .layer_tools import farthest, joints, set_frame


@pytest.fixture
def walker(open_file, data, fresh_scene):
    """(rig, a prop on the armature object, a prop on its pelvis) of pab_walk."""
    rig = open_file(data / "1_game_characters/ozz_pab/pab_walk.fbx")[0]
    props = []
    for bone in ("", "Pelvis"):
        prop = bpy.data.objects.new("Prop", None)
        bpy.context.scene.collection.objects.link(prop)
        prop.parent, prop.parent_type, prop.parent_bone = rig, "BONE" if bone else "OBJECT", bone
        props.append(prop)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    return rig, *props


def places(items, frames):
    """(frames, items, 4, 4) where Blender shows them."""
    out = []
    for frame in frames:
        set_frame(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        out.append([np.array(item.evaluated_get(graph).matrix_world) for item in items])
    return np.array(out)


@pytest.mark.parametrize("situation", ["chest_front", "knock_out"])
def test_the_pelvis_moves_and_the_object_does_not(walker, situation):
    rig, on_object, on_pelvis = walker
    frames = np.arange(*rig.animation_data.action.frame_range)[::3]
    items = [rig, on_object, on_pelvis]
    before, stood = places(items, frames), joints(rig, frames)
    assert np.ptp(before[:, 0, :3, 3], axis=0).max() > 0.0, "the object travels"
    assert OPS.apply_hit_reaction(situation=situation, frame=float(frames[2])) == {"FINISHED"}
    after = places(items, frames)
    size = np.ptp(stood[0].reshape(-1, 3), axis=0).max()
    np.testing.assert_allclose(after[:, :2], before[:, :2], atol=1e-6)
    moved = np.linalg.norm(joints(rig, frames) - stood, axis=-1).max(axis=(1, 2)) / size
    assert moved[:2].max() < 1e-5 and moved.max() > 0.01
    shift = np.linalg.norm(after[:, 2, :3, 3] - before[:, 2, :3, 3], axis=-1)
    assert shift[:2].max() < 1e-5 and shift.max() > 0.005 * np.linalg.norm(np.ptp(before[:, 2, :3, 3], axis=0))
    assert OPS.remove_reaction(name=names(rig)[0]) == {"FINISHED"}
    np.testing.assert_allclose(places(items, frames), before, atol=1e-6)
    assert farthest(joints(rig, frames), stood) < 0.01
