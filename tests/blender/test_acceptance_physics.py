"""It is physics: nothing comes from nothing, twice the blow is twice the motion, units, frames and rates are words."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import cli

from tests.blender import acceptance_tools as tools

CHARACTER = "1_game_characters/quaternius/cyberpunk_Character.glb"
FRAME = 8.0  # at 24 frames per second
ALIKE = 0.02


@pytest.fixture
def rig(fresh_scene, data):
    return tools.loaded(data / CHARACTER)


def test_no_impulse_moves_nothing(fresh_scene, data, tmp_path):
    path = tmp_path / "still.blend"
    words = ["react", data / CHARACTER, "--situation", "shoulder_front", "--impulse", 0, "--out", path]
    status = cli.main([str(word) for word in words])
    frames = np.arange(0.0, 33.0)
    if status == 0:
        bpy.ops.wm.open_mainfile(filepath=str(path))
        shown = tools.orientations(next(item for item in bpy.data.objects if item.type == "ARMATURE"), frames)
        assert tools.between(shown, tools.orientations(tools.loaded(data / CHARACTER), frames)).max() < 0.01
    job, reaction = tools.solved(tools.loaded(data / CHARACTER), impulse=0.0)
    assert status == 0
    assert max(reaction.peaks().values()) < 0.01


def first_motion(reaction):
    """(3,) displacement of the struck point [canonical m] against the clip in the first 30 ms, body frame."""
    k = int(np.searchsorted(reaction.times - reaction.start, 0.03))
    return np.cross(reaction.turn[k, reaction.struck], reaction.actor.axis[reaction.struck]), reaction.turn[k]


@pytest.mark.one_blender
def test_an_opposite_impulse_goes_the_other_way(rig):
    there, turns = first_motion(tools.solved(rig, impulse=1.0)[1])
    back, turns_back = first_motion(tools.solved(rig, impulse=-1.0)[1])
    assert np.linalg.norm(there) > 1e-5
    assert there @ back < -0.98 * np.linalg.norm(there) * np.linalg.norm(back)
    assert np.abs(turns + turns_back).max() < 0.02 * np.abs(turns).max()


@pytest.mark.one_blender
def test_a_direction_given_is_the_direction_taken(rig):
    _, forward = tools.solved(rig, impulse=2.0, direction=(0.0, 1.0, 0.0))
    _, sideways = tools.solved(rig, impulse=2.0, direction=(1.0, 0.0, 0.0))
    a, b = first_motion(forward)[1].ravel(), first_motion(sideways)[1].ravel()
    assert abs(a @ b) < 0.7 * np.linalg.norm(a) * np.linalg.norm(b)


@pytest.mark.one_blender
def test_twice_the_impulse_is_twice_the_motion(rig):
    """Of all that turns by more than a simulation goes to sleep on, which may be at any time."""
    one, two = (tools.solved(rig, impulse=impulse)[1].peaks() for impulse in (0.5, 1.0))
    seen = [name for name, peak in one.items() if peak > 0.05]
    assert len(seen) > 10
    assert [two[name] / one[name] for name in seen] == pytest.approx([2.0] * len(seen), rel=ALIKE)


@pytest.mark.one_blender
def test_more_mass_less_motion(rig):
    job, light = tools.solved(rig)
    struck = light.actor.names[light.struck]
    own = float(job.actor.masses.mass[job.actor.order[light.struck]])
    heavy, heaviest = (tools.solved(rig, settings={struck: {"mass": k * own}})[1] for k in (4.0, 8.0))
    every = light, heavy, heaviest
    k = int(np.searchsorted(light.times - light.start, 0.05))
    turns = [float(np.linalg.norm(r.turn[k, r.struck])) for r in every]
    assert turns[1] < 0.9 * turns[0] and turns[2] < 0.6 * turns[0]
    # In the world, both ends of it; off its trunk a light arm turns back sooner, so that it turns less there.
    _, place = job.actor.canonical(job.clip)
    ends = [light.struck, light.actor.first("forearm.L")]
    gone = np.array([np.linalg.norm(r.poses(job.clip)[1] - place, axis=-1)[:, ends].max(axis=0) for r in every])
    assert np.all(gone[1] < 0.9 * gone[0]) and np.all(gone[2] < 0.75 * gone[0])


@pytest.mark.one_blender
def test_a_chest_hit_travels_outwards(rig):
    """From the bone that is struck: a joint has gone a tenth of its way off the clip later than the one before it.
    Further on a whip overtakes its handle, and where each is farthest is late and flat.

    Seen from the pelvis, which goes where the feet catch it.  About its elbow an arm that is dragged along turns; that
    hardly leaves its place.
    """
    job, reaction = tools.solved(rig, "chest_front")
    _, place = job.actor.canonical(job.clip)
    _, pushed = reaction.poses(job.clip)
    off = pushed - place
    away = np.linalg.norm(off - off[:, [job.actor.names.index("Body")]], axis=-1)
    assert away.max() > 0.02

    def late(name: str) -> float:
        """Frames until a tenth, between samples too."""
        way = away[:, job.actor.names.index(name)] / (0.1 * away[:, job.actor.names.index(name)].max())
        k = int(np.argmax(way > 1.0))
        return float(np.interp(1.0, way[k - 1 : k + 1], job.clip.frames[k - 1 : k + 1])) - FRAME

    arms = [("Chest", f"UpperArm.{side}", f"Hand.{side}") for side in "LR"]
    assert job.actor.names[reaction.struck] == "Chest"
    assert late("Chest") < late("Torso"), "inwards too"
    for chain in (("Chest", "Neck", "Head"), *arms):
        times = [late(name) for name in chain]
        assert min(np.diff(times)) > 0.0, (chain, times)


@pytest.fixture(scope="module")
def usual(addon, data):
    rig = tools.loaded(data / CHARACTER)
    assert (round(rig.scale[0], 4), bpy.context.scene.render.fps) == (100.0, 24)
    return tools.solved(rig, frame=FRAME)[1].peaks()


@pytest.mark.one_blender
class TestOnlyWords:
    """The same character in other units, at another place in time, at another rate; the file has scale 100, 24 fps."""

    @staticmethod
    def same(peaks, usual):
        assert max(usual.values()) > 6.0
        seen = [name for name, peak in usual.items() if peak > 1.0]
        assert [peaks[name] for name in seen] == pytest.approx([usual[name] for name in seen], rel=ALIKE)

    @pytest.mark.parametrize("scale", [0.01, 1.0])
    def test_object_scale(self, usual, rig, scale):
        factor = scale / rig.scale[0]
        rig.scale = [factor * value for value in rig.scale]
        bpy.context.view_layer.update()
        self.same(tools.solved(rig, frame=FRAME)[1].peaks(), usual)

    def test_start_frame(self, usual, rig):
        tools.retime(rig, shift=37.0)
        self.same(tools.solved(rig, frame=FRAME + 37.0)[1].peaks(), usual)

    @pytest.mark.parametrize("fps", [30, 60])
    def test_rate(self, usual, rig, fps):
        factor = fps / bpy.context.scene.render.fps
        tools.retime(rig, factor)
        bpy.context.scene.render.fps = fps
        self.same(tools.solved(rig, frame=FRAME * factor)[1].peaks(), usual)
