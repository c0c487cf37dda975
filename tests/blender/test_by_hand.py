"""What is done to reactions by hand, by other Blenders and in other files: named, mended, and gone after Remove."""

import shutil

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import hints, memory, operators_life, staleness

from .interface_tools import OPS, cures, layers, names
from .layer_tools import farthest, joints

FRAMES = np.arange(1.0, 25.0)


class TestOtherBlenders:
    """What files that went through another Blender need; `tools/quality/versions.py` sends them there."""

    @pytest.mark.parametrize("operator", ("remove_all", "flatten"))
    def test_from_one_without_slots(self, hit, operator):
        """Before 4.4 no slot was noted; the file has got one since."""
        hit.parametric_dynamics_base[0].slot = ""
        for track in layers(hit):
            track.mute = operator == "remove_all"
        bpy.context.view_layer.update()
        shown = joints(hit, FRAMES)
        assert getattr(OPS, operator)() == {"FINISHED"}
        assert farthest(joints(hit, FRAMES), shown) < 0.1
        assert names(hit) == [] and layers(hit) == []

    def test_fingerprints_are_of_plain_numbers(self, hit, monkeypatch):
        """NumPy's own write themselves otherwise from version to version."""
        taken = []
        memory.forget()
        monkeypatch.setattr(staleness, "_add", lambda _, *values: taken.extend(values))
        staleness.fingerprint(hit, hit.parametric_dynamics_reactions[0])
        assert len(taken) > 100 and {type(value) for value in taken} <= {str, float, int, bool}


class TestByHand:
    """What animators do to strips and rigs afterwards: it is named, Update makes it right, Remove leaves nothing."""

    @pytest.fixture
    def clip(self, demo):
        return joints(demo, FRAMES)

    def mended(self, rig, clip, shown, cured):
        assert set(cures(rig)) == {"UPDATE"}
        OPS.update_reaction(source="RECIPE")
        assert cures(rig) == []
        if cured:
            assert farthest(joints(rig, FRAMES), shown) < 1.0
        OPS.remove_all()
        assert farthest(joints(rig, FRAMES), clip) < 0.01 and not len(rig.animation_data.nla_tracks)

    def test_our_strip_is_bent(self, clip, hit):
        shown, strip = joints(hit, FRAMES), layers(hit)[0].strips[0]
        for name, value in (("scale", 2.0), ("repeat", 2.0), ("blend_type", "ADD"), ("use_reverse", True)):
            plain = getattr(strip, name)
            setattr(strip, name, value)
            assert "reversed, stretched, repeated or blended" in hints.of(bpy.context, hit)[0].text
            if name != "use_reverse":
                setattr(strip, name, plain)
        self.mended(hit, clip, shown, True)

    def test_our_strip_fades_as_the_animator_wants_it(self, hit):
        """Update keeps that, along the strip; Remove takes it off."""
        strip = layers(hit)[0].strips[0]
        strip.blend_out, strip.use_animated_influence = 3.0, True
        points = strip.fcurves.find("influence").keyframe_points
        points[0].co = (strip.frame_start, 0.5)
        points.insert(strip.frame_start + 6.0, 0.25).interpolation = "LINEAR"
        OPS.update_reaction(source="RECIPE")
        assert self.fades(hit) == (8.0, 3.0, [(8.0, 0.5), (14.0, 0.25)])
        hit.parametric_dynamics.frame = 10.0
        OPS.update_reaction()
        assert self.fades(hit) == (10.0, 3.0, [(10.0, 0.5), (16.0, 0.25)])

    def fades(self, rig):
        """Where our strip starts, its end's blend, and the keys of its influence."""
        (strip,) = layers(rig)[0].strips
        points = strip.fcurves.find("influence").keyframe_points
        return strip.frame_start, strip.blend_out, [tuple(key.co) for key in points]

    def test_the_clips_strip_is_reversed(self, clip, hit):
        hit.animation_data.nla_tracks["Walk"].strips[0].use_reverse = True
        hit.update_tag()
        bpy.context.view_layer.update()
        self.mended(hit, clip, None, False)

    def test_rotation_mode(self, hit):
        hit.pose.bones["head"].rotation_mode = "XYZ"
        bpy.context.view_layer.update()
        memory.forget()
        assert cures(hit) == ["UPDATE"]

    def test_a_clip_that_is_gone(self, hit):
        bpy.data.actions.remove(bpy.data.actions["Walk"])
        assert ["gone" in hint.text and not hint.cure for hint in hints.of(bpy.context, hit)] == [True]
        OPS.remove_all()
        assert not len(hit.parametric_dynamics_reactions) and not len(hit.animation_data.nla_tracks)

    def test_our_strip_in_a_meta_strip(self, clip, hit):
        shown = joints(hit, FRAMES)
        self.meta(hit, layers(hit)[0])
        assert layers(hit)[0].strips[0].type == "META" and cures(hit) == []
        OPS.update_reaction(source="RECIPE")
        assert farthest(joints(hit, FRAMES), shown) < 1.0
        self.meta(hit, layers(hit)[0])
        OPS.remove_all()
        assert farthest(joints(hit, FRAMES), clip) < 0.01 and not len(hit.animation_data.nla_tracks)

    def test_a_clip_in_a_meta_strip(self, clip, demo):
        data = demo.animation_data
        track = data.nla_tracks.new()
        track.strips.new("Walk", 1, data.action)
        data.action = None
        self.meta(demo, track)
        OPS.apply_hit_reaction(frame=8.0)
        assert farthest(joints(demo, FRAMES), clip) > 1.0 and cures(demo) == []
        OPS.remove_all()
        assert farthest(joints(demo, FRAMES), clip) < 0.01 and [t.strips[0].type for t in data.nla_tracks] == ["META"]

    def meta(self, rig, chosen):
        for track in rig.animation_data.nla_tracks:
            for strip in track.strips:
                strip.select = track == chosen
        with operators_life._nla_editor(bpy.context) as found:
            assert found and bpy.ops.nla.meta_add() == {"FINISHED"}


class TestLinked:
    """A character comes from a file in which it reacts already."""

    @pytest.fixture
    def override(self, hit, tmp_path):
        name, self.shown = hit.name, joints(hit, FRAMES)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
            into.objects = [name]
        linked = into.objects[0]
        bpy.context.scene.collection.objects.link(linked)
        assert farthest(joints(linked, FRAMES), self.shown) < 0.01 and not OPS.remove_all.poll()
        linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
        return self.found()

    def found(self):
        rig = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE" and o.override_library is not None)
        bpy.context.view_layer.objects.active = rig
        return rig

    def test_its_own_reactions_come_and_go(self, override, tmp_path):
        theirs = names(override)[0]
        OPS.apply_hit_reaction(frame=14.0)
        assert names(override)[0] == theirs and len(names(override)) == 2
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
        rig = self.found()
        for operator in (OPS.update_reaction, OPS.remove_reaction):
            with pytest.raises(RuntimeError, match="comes from the linked file"):
                operator(name=theirs)
        OPS.remove_all()
        assert names(rig) == [theirs] and farthest(joints(rig, FRAMES), self.shown) < 0.01
        for operator in (OPS.remove_all, OPS.flatten):
            with pytest.raises(RuntimeError, match="comes from the linked file"):
                operator()

    def test_a_namesake_that_the_library_has_got_since(self, hit, tmp_path):
        """The reaction of the shot is called otherwise then, and can still be updated and removed."""
        theirs, name = names(hit)[0], hit.name
        later, library, shot = (str(tmp_path / (each + ".blend")) for each in ("later", "library", "shot"))
        bpy.ops.wm.save_as_mainfile(filepath=later)
        OPS.remove_all()
        bpy.ops.wm.save_as_mainfile(filepath=library)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with bpy.data.libraries.load(library, link=True) as (_, into):
            into.objects = [name]
        bpy.context.scene.collection.objects.link(into.objects[0])
        into.objects[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
        self.found()
        OPS.apply_hit_reaction(frame=14.0)
        assert names(self.found()) == [theirs]
        bpy.ops.wm.save_as_mainfile(filepath=shot)
        shutil.copy(later, library)
        for _ in range(2):
            bpy.ops.wm.open_mainfile(filepath=shot)
            own = [record.name for record in self.found().parametric_dynamics_reactions if not record.action.library]
            assert sorted(names(self.found())) == sorted([*own, theirs]) and own != [theirs]
            bpy.ops.wm.save_mainfile()
        assert OPS.update_reaction(name=own[0]) == {"FINISHED"}
        OPS.remove_all()
        assert names(self.found()) == [theirs]

    def test_appended(self, hit, tmp_path):
        """A collection that is appended brings its reactions along."""
        shown, name = joints(hit, FRAMES), hit.name
        kept = bpy.data.collections.new("Kept")
        for item in bpy.data.objects:
            kept.objects.link(item)
        kept.use_fake_user = True
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with bpy.data.libraries.load(str(tmp_path / "library.blend")) as (_, into):
            into.collections = ["Kept"]
        bpy.context.scene.collection.children.link(into.collections[0])
        rig = bpy.context.view_layer.objects.active = bpy.data.objects[name]
        assert farthest(joints(rig, FRAMES), shown) < 0.01 and cures(rig) == []
        OPS.update_reaction(source="RECIPE")
        assert farthest(joints(rig, FRAMES), shown) < 1.0
        OPS.remove_all()
        assert rig.animation_data.action == bpy.data.actions["Walk"] and not len(rig.animation_data.nla_tracks)
