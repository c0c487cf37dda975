"""What is timed inside Blender: a whole reaction job, `nla.bake` alone, native rigid bodies; same rig, same frames.

    bench/job_tasks.py ZIP [CHARACTER.glb]      in a wheel
    blender -b --python bench/job_tasks.py -- ZIP [CHARACTER.glb]
"""

import importlib
import os
import sys
from functools import partial
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench import clock  # noqa: E402  a script inside Blender has no package of its own
from tools import installed  # noqa: E402

FRAMES = 120
MASS = 2.0  # [kg] of a native rigid body
BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


class Stage:
    """A freshly loaded character and what is done to it, again and again."""

    def __init__(self, character):
        self.character = character
        module = installed.MODULE
        names = ("react", "progress", "situation", "pose")
        self.core = {name: importlib.import_module(module + ".core." + name) for name in names}
        names = ("job", "files", "demo_character")
        self.addon = {name: importlib.import_module(module + ".blender_addon." + name) for name in names}
        self.laps = {}

    def load(self):
        """The character at the start of its walk, nothing done yet."""
        if self.character is None:
            bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
            rig = self.addon["demo_character"].build(bpy.context)
        else:
            opened = self.addon["files"].open_input(self.character)  # the clip whose name says walk
            rig = bpy.data.objects[opened.armature]
        self.rig = rig.name
        scene = bpy.context.scene
        self.start = int(scene.frame_start)
        scene.frame_end = self.start + FRAMES - 1
        scene.frame_set(self.start)
        bpy.context.view_layer.objects.active = rig
        rig.select_set(True)
        return rig

    # -- ours ------------------------------------------------------------------------------------------------------

    def job(self, whole=True):
        """Read, simulate, write: all FRAMES simulated and keyed, or as many as the situation itself says."""
        situation = self.core["situation"].named("shoulder_front")
        if whole:
            seconds = (FRAMES - 1) * bpy.context.scene.render.fps_base / bpy.context.scene.render.fps
            envelope = self.core["pose"].Envelope(0.0, 0.5 * seconds, 0.5 * seconds)
            situation = situation.with_changes(envelope=envelope)
        hit = self.core["react"].Hit(float(self.start + 1))
        armature = bpy.data.objects[self.rig]
        laps = [clock.time.perf_counter()]
        job = self.addon["job"].read(bpy.context, armature, situation, hit)
        laps.append(clock.time.perf_counter())
        reaction = self.core["progress"].run(job.solve())
        laps.append(clock.time.perf_counter())
        job.write(bpy.context, reaction)
        laps.append(clock.time.perf_counter())
        self.laps = dict(zip(("read", "simulate", "write"), np.diff(laps).round(4).tolist(), strict=True))
        self.laps |= {"keyed frames": len(job.frames), "sub-steps": reaction.substeps}

    # -- Blender's own ---------------------------------------------------------------------------------------------

    def bake(self):
        """What an animator does to get one action out of constraints and layers."""
        armature = bpy.data.objects[self.rig]
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.nla.bake(
            frame_start=self.start,
            frame_end=self.start + FRAMES - 1,
            only_selected=False,
            visual_keying=True,
            clear_constraints=False,
            use_current_action=False,
            bake_types={"POSE"},
        )
        bpy.ops.object.mode_set(mode="OBJECT")

    def native(self):
        """A rigid body per bone, hung on point constraints, bones copying their bodies; simulated by baking."""
        armature = bpy.data.objects[self.rig]
        scene = bpy.context.scene
        bpy.ops.rigidbody.world_add()
        scene.rigidbody_world.collection = bpy.data.collections.new("bodies")
        scene.rigidbody_world.constraints = bpy.data.collections.new("joints")
        scene.rigidbody_world.point_cache.frame_start = self.start
        scene.rigidbody_world.point_cache.frame_end = self.start + FRAMES
        bodies = {bone.name: self._body(armature, bone) for bone in armature.pose.bones}
        for bone in armature.pose.bones:
            if bone.parent:
                self._joint(armature, bone, bodies[bone.parent.name], bodies[bone.name])
            else:
                bodies[bone.name].rigid_body.kinematic = True
            copy = bone.constraints.new("COPY_TRANSFORMS")
            copy.target = bodies[bone.name]
        self.bake()

    def _body(self, armature, bone):
        mesh = bpy.data.meshes.new(bone.name)
        half = Vector((0.15 * bone.length, 0.0, 0.15 * bone.length))
        corners = [(x, y, z) for x in (-half.x, half.x) for y in (0.0, bone.length) for z in (-half.z, half.z)]
        mesh.from_pydata(corners, [], BOX)
        body = bpy.data.objects.new("body " + bone.name, mesh)
        body.matrix_world = armature.matrix_world @ bone.matrix
        scene = bpy.context.scene
        scene.collection.objects.link(body)
        scene.rigidbody_world.collection.objects.link(body)
        body.rigid_body.mass = MASS
        body.rigid_body.collision_shape = "BOX"
        body.rigid_body.collision_collections = [False] * 19 + [True]
        return body

    def _joint(self, armature, bone, upper, lower):
        joint = bpy.data.objects.new("joint " + bone.name, None)
        joint.matrix_world = armature.matrix_world @ bone.matrix
        scene = bpy.context.scene
        scene.collection.objects.link(joint)
        scene.rigidbody_world.constraints.objects.link(joint)
        hold = joint.rigid_body_constraint
        hold.type = "GENERIC_SPRING"
        hold.object1, hold.object2 = upper, lower
        for axis in "xyz":
            setattr(hold, "use_limit_lin_" + axis, True)
            setattr(hold, "limit_lin_{}_lower".format(axis), 0.0)
            setattr(hold, "limit_lin_{}_upper".format(axis), 0.0)
            setattr(hold, "use_spring_ang_" + axis, True)
            setattr(hold, "spring_stiffness_ang_" + axis, 20.0)
            setattr(hold, "spring_damping_ang_" + axis, 2.0)


def offered(stage):
    """Tasks by name; loading is not timed."""
    return {
        "job": clock.Task(stage.job, stage.load, once=True),
        "job as preset": clock.Task(partial(stage.job, False), stage.load, once=True),
        "nla.bake": clock.Task(stage.bake, stage.load, once=True),
        "native rigid bodies": clock.Task(stage.native, stage.load, once=True),
    }


def facts(stage):
    """Versions and the rig; one job's parts."""
    laps = {}
    for name, whole in (("120 frames", True), ("as preset", False)):
        bones = len(stage.load().data.bones)
        stage.job(whole)
        laps[name] = stage.laps
    return {
        "blender": bpy.app.version_string,
        "numpy": np.__version__,
        "rig": stage.rig if stage.character is None else Path(stage.character).stem,
        "bones": bones,
        "job_s": laps,
    }


def main(arguments):
    installed.install(arguments[0])
    stage = Stage(arguments[1] if len(arguments) > 1 else None)
    clock.serve(offered(stage), partial(facts, stage)())
    sys.stdout.flush()
    os._exit(0)  # bpy 4.5 can hang on a normal exit


if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
