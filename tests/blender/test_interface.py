"""The add-on's face: what it registers, its settings, and what its operators refuse."""

import dataclasses

import addon_utils
import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import (
    bone_properties,
    checks,
    hints,
    hit_properties,
    recipe,
    settings,
)
from bl_ext.user_default.parametric_dynamics.core import hits
from bl_ext.user_default.parametric_dynamics.core import situation as situations

MODULE = "bl_ext.user_default.parametric_dynamics"
OPS = bpy.ops.parametric_dynamics
DEMO = "Demo Character"


@pytest.fixture
def demo(character):
    return character


class TestRegistration:
    def test_enable_disable_enable_leaves_nothing(self, fresh_scene):
        before = registered()
        handlers = our_handlers()
        addon_utils.disable(MODULE)
        assert not any(hasattr(bpy.types.Object, name) for name in before["object"])
        assert not any(hasattr(bpy.types.PoseBone, name) for name in bone_properties.PROPERTIES)
        assert not [name for name in dir(bpy.types) if name.startswith("DYNAMICS_")]
        assert our_handlers() == []
        addon_utils.enable(MODULE)
        assert registered() == before
        ours = ["depsgraph_update_post", "load_post", "load_post", "redo_post", "save_pre", "undo_post"]
        assert our_handlers() == handlers == ours
        assert before["object"] and before["bone"] and before["classes"]

    def test_everything_says_what_it_is(self, demo):
        group = demo.parametric_dynamics.bl_rna.properties
        bone = bpy.types.PoseBone.bl_rna.properties
        ours = [p for p in group if p.identifier not in ("rna_type", "name")]
        ours += [bone[name] for name in bone_properties.PROPERTIES]
        assert len(ours) > 30
        for prop in ours:
            assert prop.name and len(prop.description) > 15, prop.identifier
            assert prop.is_overridable, prop.identifier

    def test_bones_can_be_keyed(self, demo):
        bone = demo.pose.bones[3]
        assert bone.keyframe_insert("dynamics_frequency", frame=1)


def registered():
    return {
        "classes": sorted(name for name in dir(bpy.types) if name.startswith("DYNAMICS_")),
        "operators": sorted(dir(OPS)),
        "object": sorted(name for name in dir(bpy.types.Object) if "parametric_dynamics" in name),
        "bone": sorted(name for name in dir(bpy.types.PoseBone) if name.startswith("dynamics_")),
    }


def our_handlers():
    """Where functions of the add-on are called from."""
    lists = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    return [
        name
        for name, functions in lists.items()
        if isinstance(functions, list)
        for function in functions
        if MODULE in getattr(function, "__module__", "")
    ]


class TestSettings:
    def test_start_is_the_first_preset(self, demo):
        assert settings.recipe(demo).hits[0].situation == situations.named(settings.FIRST)

    @pytest.mark.parametrize("name", situations.everything())
    def test_every_preset_is_loaded_exactly(self, demo, name):
        demo.parametric_dynamics.situation = name
        assert settings.situation(demo.parametric_dynamics) == situations.named(name)
        assert demo.parametric_dynamics.situation == name

    def test_values_reach_the_situation(self, demo):
        group = demo.parametric_dynamics
        group.impulse, group.frequency, group.envelope_mode, group.sustain = 7.3, 2.1, "hold", 0.4
        group.direction_mode, group.direction = "FIGURE", (1.0, 0.2, 0.0)
        made = settings.situation(group)
        assert (made.impulse, made.frequency, made.envelope.mode, made.envelope.sustain) == (7.3, 2.1, "hold", 0.4)
        assert made.direction == (1.0, 0.2, 0.0)
        assert settings.recipe(demo).hits[0].direction is None
        group.direction_mode = "WORLD"
        assert settings.recipe(demo).hits[0].direction == (1.0, 0.2, 0.0)
        assert settings.situation(group).direction == situations.named(settings.FIRST).direction

    def test_frame(self, demo):
        assert settings.recipe(demo).hits[0].frame is None
        bpy.context.scene.frame_set(7, subframe=0.5)
        assert OPS.use_current_frame() == {"FINISHED"}
        assert settings.recipe(demo).hits[0].frame == 7.5

    def test_custom_keeps_what_is_there(self, demo):
        group = demo.parametric_dynamics
        group.situation = "leg_back"
        group.impulse = 3.0
        group.situation = "CUSTOM"
        assert settings.situation(group) == situations.named("leg_back").with_changes(impulse=3.0)

    def test_recipe_survives_as_text(self, demo):
        group = demo.parametric_dynamics
        group.impulse, group.bone, group.frame, group.automatic_frame = 9.1, "head", 12.0, False
        group.direction_mode, group.direction, group.height = "WORLD", (0.0, 1.0, 0.5), 1.6
        bone = demo.pose.bones[5]
        bone.dynamics_mass, bone.dynamics_role, bone.dynamics_simulated = 4.2, "helper", "NO"
        made = settings.recipe(demo)
        assert made.bones == {bone.name: {"simulated": False, "mass": 4.2}}
        assert recipe.loads(recipe.dumps(made)) == made
        settings.choose(group)
        settings.put(demo, made)
        assert settings.recipe(demo) == made

    TOLD = ({"frame": 12.5}, {"bone": "head"}, {"direction": (0.0, 1.0, 0.5)}, {"offset": (0.1, 0.0, -0.1)},
            {"angular": 3.0, "gain": 1.5}, {"origin": (1.0, 2.0, 0.5)}, {"striker": (2.0, 9.0, 0.5), "gain": 1.0},
            {"strength": "pistol", "gain": 2.5}, {"seed": 7}, {"ground": 0.25}, {"name": "last"},
            {"enabled": False})  # fmt: skip

    @pytest.mark.parametrize("told", TOLD, ids=lambda told: next(iter(told)))
    def test_all_that_a_hit_says_is_in_the_panel(self, character, told):
        plain = hits.HitSetting(situations.named("knock_out"))
        planned = dataclasses.replace(plain, **told)
        holder = character.parametric_dynamics_hits.add()
        settings.put_hit(holder, planned)
        assert settings.hit(holder) == planned
        settings.put_hit(holder, plain)
        assert settings.hit(holder) == plain

    def test_told_is_every_field_of_a_hit(self):
        """But for times after another hit, which are frames once they are read."""
        fields = {field.name for field in dataclasses.fields(hits.HitSetting)}
        assert {key for told in self.TOLD for key in told} == fields - {"situation", "after"}

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"situation": "x ="}', '{"situation": "name = 3"}'])
    def test_damaged_recipes_are_refused(self, text):
        with pytest.raises(Exception, match="settings can't be read"):
            recipe.loads(text)

    def test_bone_values(self, demo):
        bone = demo.pose.bones[4]
        assert settings.bone_values(bone) == {}
        bone.dynamics_custom, bone.dynamics_velocity, bone.dynamics_multiplier = True, 300.0, -1.0
        bone.dynamics_weight = 0.5
        assert settings.bone_values(bone) == {
            "weight": 0.5, "angle": 90.0, "velocity": 300.0, "multiplier": -1.0
        }  # fmt: skip

    def test_settings_outlive_the_file(self, demo, tmp_path):
        demo.parametric_dynamics.impulse = 5.5
        demo.parametric_dynamics.situation = "chest_back"
        demo.pose.bones[3].dynamics_frequency = 2.5
        made = settings.recipe(demo)
        path = str(tmp_path / "kept.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        assert settings.recipe(bpy.context.active_object) == made


    def test_late_frames_are_exact(self, demo):
        OPS.use_current_frame()
        demo.parametric_dynamics.frame = 123456.5
        assert settings.recipe(demo).hits[0].frame == 123456.5

    def test_settings_of_an_override_outlive_the_file(self, demo, tmp_path):
        library, shot = str(tmp_path / "character.blend"), str(tmp_path / "shot.blend")
        bpy.ops.wm.save_as_mainfile(filepath=library)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with bpy.data.libraries.load(library, link=True) as (_, wanted):
            wanted.objects = [DEMO]
        linked = bpy.data.objects[DEMO]
        bpy.context.scene.collection.objects.link(linked)
        bpy.context.view_layer.objects.active = linked
        with pytest.raises(RuntimeError, match="linked"):
            OPS.apply_hit_reaction()
        rig = linked.override_create(remap_local_usages=True)
        rig.override_library.is_system_override = False
        bpy.context.view_layer.objects.active = rig
        rig.parametric_dynamics.situation, rig.parametric_dynamics.impulse = "leg_front", 12.5
        rig.pose.bones["head"].dynamics_mass = 6.0
        made = settings.recipe(rig)
        for _ in range(2):  # saved again without being looked at
            bpy.ops.wm.save_as_mainfile(filepath=shot)
            bpy.ops.wm.open_mainfile(filepath=shot)
        assert settings.recipe(bpy.context.view_layer.objects.active) == made
        assert made.bones == {"head": {"mass": 6.0}} and made.hits[0].situation.impulse == 12.5


class TestSituationFiles:
    def test_save_and_load(self, demo, tmp_path):
        group = demo.parametric_dynamics
        group.situation = "leg_inside"
        group.impulse, group.tone = 11.5, 0.8
        made = settings.situation(group)
        path = tmp_path / "my_kick.toml"
        assert OPS.save_situation(filepath=str(path)) == {"FINISHED"}
        group.situation = "chest_front"
        assert settings.situation(group) != made
        assert OPS.load_situation(filepath=str(path)) == {"FINISHED"}
        assert settings.situation(group) == made.with_changes(name="my kick")
        assert group.situation == "CUSTOM" or group.situation == "leg_inside"

    def test_curves_of_a_file_stay_until_their_number_is_changed(self, demo, tmp_path):
        group, path = demo.parametric_dynamics, tmp_path / "rises.toml"
        curves = {"frequency": ((0.0, 1.3), (0.5, 4.0)), "tone": ((0.1, 0.123456), (0.2, 0.0))}
        made = situations.named("leg_inside").with_changes(name="rises", **curves)
        path.write_text(situations.dump(made), encoding="utf-8")
        OPS.load_situation(filepath=str(path))
        assert settings.situation(group) == made and settings.followed(group) == curves
        told = settings.recipe(demo)
        group.situation = "chest_front"
        assert settings.followed(group) == {}
        settings.put(demo, recipe.loads(recipe.dumps(told)))
        assert settings.situation(group) == made
        OPS.save_situation(filepath=str(path))
        assert situations.load(path) == made
        group.frequency = 2.5
        assert settings.situation(group) == made.with_changes(frequency=2.5)
        assert list(settings.followed(group)) == ["tone"]

    def test_own_folder(self):
        from bl_ext.user_default.parametric_dynamics.blender_addon import operators_files

        assert "parametric_dynamics" in str(operators_files.folder()) and ".user" in str(operators_files.folder())

    def test_a_wrong_file_changes_nothing(self, demo, tmp_path):
        path = tmp_path / "wrong.toml"
        path.write_text('name = "x"\nimpulse = "much"\n')
        before = settings.recipe(demo)
        with pytest.raises(RuntimeError, match="wrong.toml"):
            OPS.load_situation(filepath=str(path))
        assert settings.recipe(demo) == before

    def test_a_folder_that_can_t_be_written(self, demo, tmp_path):
        with pytest.raises(RuntimeError):
            OPS.save_situation(filepath=str(tmp_path / "nowhere" / "x.toml"))


class TestBoneOperators:
    @pytest.fixture
    def posed(self, demo):
        bpy.ops.object.mode_set(mode="POSE")
        names = [bone.name for bone in demo.pose.bones][2:5]
        for bone in demo.pose.bones:
            select(bone, bone.name in names)
        demo.data.bones.active = demo.data.bones[names[0]]
        return demo, names

    def test_copy_and_reset(self, posed):
        rig, names = posed
        first = rig.pose.bones[names[0]]
        first.dynamics_mass, first.dynamics_simulated, first.dynamics_role = 3.0, "YES", "helper"
        assert OPS.copy_bone_settings() == {"FINISHED"}
        assert settings.bones(rig) == {name: {"simulated": True, "mass": 3.0} for name in names}
        assert settings.roles(rig) == {names[0]: "helper"}
        assert OPS.reset_bone_settings() == {"FINISHED"}
        assert settings.bones(rig) == {} and settings.roles(rig) == {}

    def test_copy_needs_others(self, posed):
        rig, names = posed
        for name in names[1:]:
            select(rig.pose.bones[name], False)
        assert not OPS.copy_bone_settings.poll()

    def test_strike_the_active_bone(self, posed):
        rig, names = posed
        assert OPS.use_active_bone() == {"FINISHED"}
        assert rig.parametric_dynamics.bone == names[0]


def select(bone, state):
    (bone if hasattr(bone, "select") else bone.bone).select = state


class TestPolls:
    def test_nothing_there(self, fresh_scene):
        for name in ("apply_hit_reaction", "update_reaction", "remove_reaction", "use_current_frame", "export_fbx"):
            assert not getattr(OPS, name).poll()
        with pytest.raises(RuntimeError, match="Select an armature"):
            OPS.apply_hit_reaction()

    def test_no_reaction(self, demo):
        assert OPS.apply_hit_reaction.poll()
        with pytest.raises(RuntimeError, match="no reaction"):
            OPS.remove_reaction()

    def test_no_animation(self, demo):
        demo.animation_data_clear()
        with pytest.raises(RuntimeError, match="no animation"):
            OPS.apply_hit_reaction()
        assert hints.of(bpy.context, demo)[0].text == "The armature has no animation. Give it an action that moves."

    def test_edit_mode(self, demo):
        bpy.ops.object.mode_set(mode="EDIT")
        with pytest.raises(RuntimeError, match="Leave edit mode"):
            OPS.apply_hit_reaction()
        bpy.ops.object.mode_set(mode="OBJECT")

    def test_the_mesh_of_a_character_will_do(self, demo):
        mesh = next(child for child in demo.children if child.type == "MESH")
        bpy.context.view_layer.objects.active = mesh
        assert checks.armature_of(bpy.context) == demo
        assert OPS.apply_hit_reaction.poll()

    def test_demo_character_wants_object_mode(self, demo):
        bpy.ops.object.mode_set(mode="POSE")
        with pytest.raises(RuntimeError, match="object mode"):
            OPS.add_demo_character()


def test_presets_are_offered_by_their_names():
    assert [item[0] for item in hit_properties.PRESETS] == [*situations.everything(), "CUSTOM"]
    assert all(item[1] and item[1] != item[0] for item in hit_properties.PRESETS)
