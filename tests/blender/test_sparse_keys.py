"""Fewer keys: the angle to the full bake as Blender shows both, at every quarter of a frame, in every rotation mode."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, cli, clip, layer, recipe, rig, settings
from bl_ext.user_default.parametric_dynamics.blender_addon.channels import Target
from bl_ext.user_default.parametric_dynamics.core import rotation
from bl_ext.user_default.parametric_dynamics.core.errors import SituationError

from .acceptance_tools import between, loaded, orientations, solved
from .interface_tools import OPS, names
from .layer_tools import differences, file_state, key_pose, set_frame, tripod

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
FRAMES = np.arange(5.0, 47.0)
LOOKS = np.arange(4.0, 48.0, 0.25)


def keyed(armature, name):
    """{(bone, property): (key times, interpolations) of its channels} of a reaction."""
    action = armature.parametric_dynamics_reactions[name].action
    found = {}
    for curve in actions.all_curves(action):
        points = curve.keyframe_points
        kinds = tuple(point.interpolation for point in points)
        found.setdefault(curve.data_path, []).append((tuple(point.co[0] for point in points), kinds))
    return found


def count(armature, name):
    return sum(len(times) for curves in keyed(armature, name).values() for times, _ in curves)


def worst(a, b):
    return float(between(a, b).max())


class TestDemo:
    @pytest.fixture
    def demo(self, character):
        return character

    def test_shoulder_front_at_half_a_degree(self, demo):
        """Under a third of the keys, and no bone is further off in the armature than the tolerance."""
        set_frame(1)
        state = file_state()
        OPS.apply_hit_reaction()
        name = names(demo)[0]
        first, last = demo.parametric_dynamics_reactions[name].action.frame_range
        looks = np.arange(first - 2.0, last + 2.0, 0.25)
        full, keys = orientations(demo, looks), count(demo, name)
        OPS.remove_reaction()
        clip_alone = orientations(demo, looks)
        set_frame(1)
        demo.parametric_dynamics.key_tolerance = 0.5
        OPS.apply_hit_reaction()
        name = names(demo)[0]
        sparse = orientations(demo, looks)
        off, share = worst(full, sparse), count(demo, name) / keys
        print("{:.1f} % of {} keys, {:.3f} degrees off".format(100 * share, keys, off))
        assert share < 0.33  # 0.295
        assert 0.05 < off <= 0.5
        beyond = (looks < first) | (looks > last)
        assert beyond.any() and worst(sparse[beyond], clip_alone[beyond]) < 0.01
        ends = np.isin(looks, (first, last))
        assert worst(sparse[ends], full[ends]) < 0.01
        times = {}
        for path, curves in keyed(demo, name).items():
            times.setdefault(path.split('"')[1], set()).update(at for at, _ in curves)
            for at, kinds in curves:
                assert at[0] == first and at[-1] == last
                assert set(kinds) <= {"BEZIER", "LINEAR"}
        assert all(len(of) == 1 for of in times.values())  # one set of key times per bone
        assert recipe.loads(demo.parametric_dynamics_reactions[name].recipe).key_tolerance == 0.5
        OPS.remove_reaction()
        set_frame(1)
        demo.parametric_dynamics.key_tolerance = 0.0
        demo.parametric_dynamics.active_reaction = 0
        before, after = state["animation"], file_state()["animation"]
        assert differences(before, after) == []

    def test_update_keeps_its_tolerance(self, template):
        demo = template("demo")
        demo.parametric_dynamics.key_tolerance = 1.0
        OPS.apply_hit_reaction()
        keys = count(demo, names(demo)[0])
        demo.parametric_dynamics.key_tolerance = 0.0
        OPS.update_reaction(source="RECIPE")
        assert count(demo, names(demo)[0]) == keys
        assert demo.parametric_dynamics.key_tolerance == 1.0  # the panel shows the reaction's settings
        assert settings.recipe(demo).key_tolerance == 1.0


CHARACTERS = {
    "kaykit": ("kaykit/manny_med_mod.gltf", "kaykit/Med_MovementBasic.glb"),
    "cyberpunk": ("quaternius/cyberpunk_Character.glb", None),
    "pab_walk": ("ozz_pab/pab_walk.fbx", None),
}


@pytest.mark.parametrize(
    "name", ["cyberpunk", *(pytest.param(name, marks=pytest.mark.one_blender) for name in ("kaykit", "pab_walk"))]
)
def test_characters_of_others(fresh_scene, data, name):
    """Fine tolerances too, though the NLA's grain shows a neck of seven bones 0.2 degrees off where deltas fade out.

    Kept: 60 to 61 %, 39 to 42 % and 27 to 29 %.
    """
    path, other = (part and data / "1_game_characters" / part for part in CHARACTERS[name])
    armature = loaded(path, clip=other)
    job, reaction = solved(armature)
    looks = np.arange(job.frames[0] - 1.0, job.frames[-1] + 1.0, 0.25)
    made = job.write(bpy.context, reaction)
    full, keys = orientations(armature, looks), count(armature, made)
    layer.remove(bpy.context, armature, made)
    for tolerance, most in ((0.1, 0.65), (0.25, 0.45), (0.5, 0.32)):
        made = job.write(bpy.context, reaction, key_tolerance=tolerance)
        off, share = worst(full, orientations(armature, looks)), count(armature, made) / keys
        print("{} at {}: {:.1f} % of the keys, {:.3f} degrees off".format(name, tolerance, 100 * share, off))
        assert off <= tolerance and share < most
        layer.remove(bpy.context, armature, made)


def waves(rng, size, strength):
    """(K, size) smooth numbers that are zero at both ends."""
    t = np.linspace(0.0, 1.0, len(FRAMES))
    return strength * sum(np.sin(np.pi * n * t)[:, None] * rng.normal(size=size) / n for n in range(1, 5))


def bent(armature, rng, blend, **options):
    """Apply a smooth bend of all bones over their keyed motion; the layer's name."""
    context = bpy.context
    skeleton = rig.read(context, armature)
    channels = clip.read(context, armature, skeleton, FRAMES)[1]
    targets = {}
    for i, name in enumerate(channels.names):
        mode = channels.modes[i]
        basis = np.array([basis_of(armature, name, frame) for frame in FRAMES])
        turn = rotation.multiply(basis, rotation.exp(waves(rng, 3, 0.3)))
        targets[name] = Target(turn, channels.location[:, i] + waves(rng, 3, 0.02))
        assert mode == armature.pose.bones[name].rotation_mode
    return layer.apply(
        context, armature, name="Bend", frames=FRAMES, targets=targets, base=channels, blend=blend, **options
    )


def basis_of(armature, name, frame):
    set_frame(frame)
    return np.array(armature.pose.bones[name].matrix_basis.to_quaternion())


@pytest.mark.parametrize("blend", ["COMBINE", "REPLACE"])
@pytest.mark.parametrize("mode", MODES)
def test_every_rotation_mode(fresh_scene, blend, mode):
    armature = tripod([mode] * 3)
    key_pose(armature, np.random.default_rng(5), range(0, 60, 12), strength=0.3)
    for action in bpy.data.actions:
        action.use_fake_user = True
    set_frame(1)
    state = file_state()
    name = bent(armature, np.random.default_rng(7), blend)
    full, keys = orientations(armature, LOOKS), count(armature, name)
    heads = positions(armature)
    layer.remove(bpy.context, armature, name)
    name = bent(armature, np.random.default_rng(7), blend, key_tolerance=1.0, keep=(17.0,))
    off, share = worst(full, orientations(armature, LOOKS)), count(armature, name) / keys
    print("{} {}: {:.0f} % of the keys, {:.3f} degrees off".format(mode, blend, 100 * share, off))
    assert off <= 1.0 and share < 0.75
    moved = np.linalg.norm(positions(armature) - heads, axis=-1).max(axis=0)
    assert moved[0] <= 0.002 * 1.0  # a root: nothing but its own location, of a rig 1 m tall
    for curves in keyed(armature, name).values():
        for at, _ in curves:
            assert {5.0, 17.0, 46.0} <= set(at)
    layer.remove(bpy.context, armature, name)
    set_frame(1)
    assert differences(state, file_state()) == []


def positions(armature):
    found = []
    for look in LOOKS:
        set_frame(look)
        found.append([tuple(bone.head) for bone in armature.pose.bones])
    return np.array(found)


def test_handles_stay_as_they_were_set(fresh_scene):
    """Aligned handles survive Blender's own recalculation when somebody touches the curve."""
    armature = tripod(["QUATERNION"] * 2)
    key_pose(armature, np.random.default_rng(5), range(0, 60, 12), strength=0.3)
    name = bent(armature, np.random.default_rng(7), "COMBINE", key_tolerance=1.0)
    kinds = set()
    for curve in actions.all_curves(armature.parametric_dynamics_reactions[name].action):
        before = [curve.evaluate(look) for look in LOOKS]
        kinds |= {point.handle_left_type for point in curve.keyframe_points}
        for point in curve.keyframe_points:
            point.select_control_point = True
        curve.update()
        np.testing.assert_allclose([curve.evaluate(look) for look in LOOKS], before, atol=1e-6)
    assert kinds == {"ALIGNED", "FREE"}


class TestCommand:
    def test_react(self, fresh_scene, tmp_path):
        OPS.add_demo_character()
        source = str(tmp_path / "walk.blend")
        bpy.ops.wm.save_as_mainfile(filepath=source)
        keys = {}
        for tolerance in ("0", "0.5"):
            out = str(tmp_path / "out{}.blend".format(tolerance))
            words = ["react", source, "--situation", "shoulder_front", "--key-tolerance", tolerance, "--out", out]
            assert cli.main(words) == 0
            bpy.ops.wm.open_mainfile(filepath=out)
            demo = next(item for item in bpy.data.objects if item.type == "ARMATURE")
            keys[tolerance] = count(demo, names(demo)[0])
        assert keys["0.5"] < 0.4 * keys["0"]

    @pytest.mark.parametrize("given", ["-1", "nan", "some", "90"])
    def test_refusals(self, given, tmp_path, capsys):
        out = tmp_path / "out.blend"
        assert (
            cli.main(["react", "x.fbx", "--situation", "chest_front", "--key-tolerance", given, "--out", str(out)]) == 2
        )
        assert len(capsys.readouterr().err.splitlines()) == 1 and not out.exists()


def test_a_recipe_from_before_keys_were_thinned_still_loads():
    text = recipe.dumps(recipe.Recipe((recipe.HitSetting(recipe.situations.named("chest_front")),), key_tolerance=0.25))
    assert recipe.loads(text).key_tolerance == 0.25
    older = json.loads(text)
    del older["key_tolerance"]
    assert recipe.loads(json.dumps(older)).key_tolerance == 0.0
    with pytest.raises(SituationError):
        recipe.loads("{}")
