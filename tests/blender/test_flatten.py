"""Flatten: one ordinary action of clip and reactions, which shows what they showed."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions

from .interface_tools import OPS, play_as_strip
from .layer_tools import farthest, joints

FRAMES = np.arange(1.0, 25.0)


def path(curve):
    return curve.data_path, curve.array_index


class TestFlatten:
    def check(self, rig, frames):
        shown = joints(rig, frames)
        assert OPS.flatten() == {"FINISHED"}
        assert len(rig.animation_data.nla_tracks) == self.foreign
        assert len(rig.parametric_dynamics_reactions) == 0
        assert farthest(joints(rig, frames), shown) < 0.01

    foreign = 0

    def test_two_reactions(self, hit):
        OPS.apply_hit_reaction(frame=14.0)
        made = [record.action.name for record in hit.parametric_dynamics_reactions]
        end = max(record.action.frame_range[1] for record in hit.parametric_dynamics_reactions)
        bpy.context.scene.frame_end = 40
        self.check(hit, np.arange(1.0, max(end, 40.0)))
        assert hit.animation_data.action.name == "Walk flat"
        assert bpy.data.actions["Walk"].use_fake_user
        assert not any(name in bpy.data.actions for name in made)

    def test_curves_nothing_touches_are_the_clips(self, hit):
        touched = {path(c) for c in actions.all_curves(hit.parametric_dynamics_reactions[0].action)}
        untouched = {path(c): len(c.keyframe_points) for c in actions.all_curves(bpy.data.actions["Walk"])}
        OPS.flatten()
        flat = {path(c): len(c.keyframe_points) for c in actions.all_curves(hit.animation_data.action)}
        same = untouched.keys() - touched
        assert same and {key: flat[key] for key in same} == {key: untouched[key] for key in same}

    def test_a_clip_that_loops_for_ever(self, demo):
        for curve in actions.all_curves(bpy.data.actions["Walk"]):
            curve.modifiers.new("CYCLES")
        OPS.apply_hit_reaction(frame=30.0)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 80
        self.check(demo, np.arange(1.0, 81.0))

    def test_strips_of_the_animators_own(self, demo):
        play_as_strip(demo)
        OPS.apply_hit_reaction(frame=8.0)
        self.foreign = 1
        self.check(demo, FRAMES)

    @pytest.mark.parametrize(("further", "mute"), (("Wave", True), ("Wave", False), ("Settings", False)))
    def test_further_tracks(self, demo, further, mute):
        """The clip that plays alone, besides muted ones as importers leave them and keyed settings, is copied with its
        name; one that is heard is in it."""
        data = demo.animation_data
        walk, slot = data.action, getattr(data, "action_slot", None)
        data.action = bpy.data.actions.new("Settings")
        demo.parametric_dynamics.keyframe_insert("impulse", frame=1.0)
        data.action = walk
        if slot is not None:
            data.action_slot = slot
        track = data.nla_tracks.new()
        strip = track.strips.new(further, 1, bpy.data.actions[further])
        strip.blend_type, track.mute, self.foreign = "REPLACE", mute, 1
        OPS.apply_hit_reaction(frame=8.0)
        self.check(demo, FRAMES)
        flat = "Demo Character flat" if (further, mute) == ("Wave", False) else "Walk flat"
        assert data.action.name == flat and track.mute == mute

    def test_undo_brings_the_layers_back(self, hit):
        bpy.ops.ed.undo_push(message="before")
        name = hit.name
        OPS.flatten()
        bpy.ops.ed.undo_push(message="Flatten")
        bpy.ops.ed.undo()
        assert len(bpy.data.objects[name].parametric_dynamics_reactions) == 1
