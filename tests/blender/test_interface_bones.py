"""What is set on single bones shows in the reaction."""

import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import recipe, settings
from bl_ext.user_default.parametric_dynamics.core import casting

from .interface_tools import OPS, names, peak, turned


class TestBones:
    def test_heavier_moves_less(self, demo):
        demo.parametric_dynamics.bone = "forearm.L"
        OPS.apply_hit_reaction()
        light = peak(demo, "forearm.L")
        demo.pose.bones["forearm.L"].dynamics_mass = 12.0
        OPS.update_reaction()
        assert 0.0 < peak(demo, "forearm.L") < 0.8 * light

    def test_not_simulated_keeps_to_the_clip(self, demo):
        OPS.apply_hit_reaction()
        assert turned(demo, "head") > 0.5
        demo.pose.bones["head"].dynamics_simulated = "NO"
        OPS.update_reaction()
        assert turned(demo, "head") < 0.01
        assert turned(demo, "spine.03") > 0.5

    def test_weight_shows_less(self, demo):
        OPS.apply_hit_reaction()
        whole = turned(demo, "head")
        demo.pose.bones["head"].dynamics_weight = 0.5
        OPS.update_reaction()
        assert turned(demo, "head") == pytest.approx(0.5 * whole, rel=0.02)

    def test_stiffer_turns_less(self, demo):
        OPS.apply_hit_reaction()
        soft = turned(demo, "head")
        demo.pose.bones["head"].dynamics_frequency = 12.0
        OPS.update_reaction()
        assert turned(demo, "head") < 0.7 * soft

    def test_own_velocity(self, demo):
        demo.parametric_dynamics.drive = "velocities"
        OPS.apply_hit_reaction()
        before = turned(demo, "forearm.R")
        bone = demo.pose.bones["forearm.R"]
        bone.dynamics_custom, bone.dynamics_velocity, bone.dynamics_multiplier = True, 400.0, 2.0
        OPS.update_reaction()
        assert turned(demo, "forearm.R") > before + 5.0

    def test_other_settings_keep_what_the_situation_says(self, demo):
        """A bone's own mass must not take its initial velocity away."""
        demo.parametric_dynamics.drive = "velocities"
        before = kick(demo)
        demo.pose.bones["upper_arm.L"].dynamics_mass = 3.0
        after = kick(demo)
        assert before.velocity != 0.0
        assert (after.velocity, after.angle, after.mass) == (before.velocity, before.angle, 3.0)

    def test_role(self, demo):
        demo.pose.bones["head"].dynamics_role = "helper"
        ready = recipe.prepare(bpy.context, demo, settings.recipe(demo))
        assert ready.actor.anatomy.role[ready.actor.skeleton.names.index("head")] == "helper"
        demo.pose.bones["head"].dynamics_role = "nonsense"
        with pytest.raises(RuntimeError, match="nonsense"):
            OPS.apply_hit_reaction()
        assert names(demo) == []


def kick(rig):
    """What the reaction to be made says about the left upper arm."""
    ready = recipe.prepare(bpy.context, rig, settings.recipe(rig))
    body = ready.actor.names.index("upper_arm.L")
    return casting.settings(ready.actor, ready.hits[0][0], ready.settings)[body]
