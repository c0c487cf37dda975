"""What guards the bake on controls that is thinned by what the deforming bones show."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import control_rig, layer_keys, sampling

from tests.blender import layer_tools as tools
from tests.blender.control_tools import BRIEF, shown, solved


@pytest.fixture
def solved_puppet(puppet):
    return solved(puppet, envelope=BRIEF)


@pytest.fixture
def careless(monkeypatch):
    """Keys are left out as if ten times the tolerance were allowed, whatever is asked back."""
    thin = layer_keys.thin
    monkeypatch.setattr(layer_keys, "thin", lambda *args: thin(*args[:3], 10.0 * args[3], args[4], {}))


@pytest.mark.parametrize("listed", (True, False))
def test_where_no_control_mends_a_bone_every_frame_is_keyed(solved_puppet, careless, monkeypatch, listed):
    job, reaction = solved_puppet
    rig, bones = bpy.data.objects[job.armature], list(job.body.skeleton.names)
    name = job.write(bpy.context, reaction)
    full = shown(rig, bones, job.frames)
    tools.layer.remove(bpy.context, rig, name)
    if not listed:
        monkeypatch.setattr(control_rig.Body, "by_control", {})
    name = job.write(bpy.context, reaction, key_tolerance=0.5)
    np.testing.assert_allclose(shown(rig, bones, job.frames), full, atol=1e-6)
    assert [made.name for made in tools.layer.reactions(rig)] == [name]
    told = [text for text in job.warnings if "every frame has its key" in text]
    assert len(told) == 1 and any("'{}'".format(bone) in told[0] for bone in bones)


@pytest.mark.parametrize("good", (0, 1))
def test_a_failure_leaves_no_layer(solved_puppet, monkeypatch, good):
    """Reading what is shown fails after the full bake, or after the thinned one."""
    job, reaction = solved_puppet
    tools.set_frame(1)
    state, read, calls = tools.file_state(), sampling.sample_scene, []

    def failing(*args):
        calls.append(args)
        if len(calls) > good:
            raise RuntimeError("out of memory")
        return read(*args)

    monkeypatch.setattr(sampling, "sample_scene", failing)
    with pytest.raises(RuntimeError, match="out of memory"):
        job.write(bpy.context, reaction, key_tolerance=0.5)
    tools.set_frame(1)
    assert tools.differences(state, tools.file_state()) == []


def test_what_is_replaced_is_mute_while_it_is_measured(solved_puppet, monkeypatch):
    """The same reaction over itself: measured as alone, and the old one plays on until it is removed."""
    job, reaction = solved_puppet
    rig, read, seen = bpy.data.objects[job.armature], sampling.sample_scene, []

    def noted(*args):
        seen.append(read(*args))
        return seen[-1]

    monkeypatch.setattr(sampling, "sample_scene", noted)
    first = job.write(bpy.context, reaction, key_tolerance=0.5)
    alone = len(seen)
    job.write(bpy.context, reaction, key_tolerance=0.5, over=first)
    assert alone >= 2 and len(seen) == 2 * alone
    for before, after in zip(seen[:alone], seen[alone:], strict=True):
        np.testing.assert_allclose(after[0], before[0], atol=1e-5)
    assert len(tools.layer.reactions(rig)) == 2
    assert not any(strip.mute for track in rig.animation_data.nla_tracks for strip in track.strips)
