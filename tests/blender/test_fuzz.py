"""Random lives of a rig: apply, update, remove, tweak, key, edit, rename, duplicate, mute, delete, undo, redo, reload.

Whatever happened, with all reactions removed the file is what the animator's own edits alone make of it: the same edits
are done again in a fresh scene that has never seen a reaction, and the two files are compared in every value.
"""

import random

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, layer_undo

from .interface_tools import OPS
from .layer_tools import differences, file_state, set_frame

LIVES = {(4, 2): range(67), (4, 5): range(67, 134), (5, 2): range(134, 201)}.get(bpy.app.version[:2], range(5))
LENGTH = 8


class Life:
    """One rig in one file.  done: the animator's own edits that are in force, in order."""

    def __init__(self, seed, folder, template):
        self.random = random.Random(seed)
        self.path = str(folder / "life.blend")
        self.log = []
        start(template)
        self.history, self.at = [()], 0
        bpy.ops.ed.undo_push(message="start")

    @property
    def done(self):
        return self.history[self.at]

    def live(self):
        for _ in range(LENGTH):
            self.step()
        rig = armature()
        if rig.animation_data.use_tweak_mode:
            rig.animation_data.use_tweak_mode = False
        if len(rig.parametric_dynamics_reactions):
            OPS.remove_all()

    def step(self):
        name = self.random.choice(STEPS)
        self.log.append(name)
        edits = getattr(self, name)()
        if edits is None:
            return  # it went in time, or made nothing
        self.history = [*self.history[: self.at + 1], self.done + edits]
        self.at += 1
        bpy.ops.ed.undo_push(message=name)

    # -- what the add-on does ------------------------------------------------------------------------------------------

    def apply(self):
        OPS.apply_hit_reaction(frame=float(self.random.choice((3, 8, 8.5, 15))))
        return ()

    def update(self):
        found = self._reaction()
        if found is not None:
            OPS.update_reaction(name=found.name, source=self.random.choice(("SETTINGS", "RECIPE")))
        return ()

    def remove(self):
        found = self._reaction()
        if found is not None:
            OPS.remove_reaction(name=found.name)
        return ()

    def edit_base(self):
        if OPS.edit_base.poll():
            OPS.edit_base()
            OPS.cure(kind="LEAVE_TWEAK")
        return ()

    def _reaction(self):
        kept = armature().parametric_dynamics_reactions
        return self.random.choice(list(kept)) if len(kept) else None

    # -- what is done to a reaction by hand ----------------------------------------------------------------------------

    def tweak(self):
        group = armature().parametric_dynamics
        group.impulse, group.frequency = self.random.uniform(5, 60), self.random.uniform(0.5, 5)
        return ()

    def mute(self):
        for track in self._tracks()[:1]:
            track.mute = not track.mute
        return ()

    def delete(self):
        for track in self._tracks()[:1]:
            armature().animation_data.nla_tracks.remove(track)
        return ()

    def duplicate(self):
        """The rig with its reactions again; taken off the double and thrown away, nothing of it is left."""
        rig, known = armature(), set(bpy.data.actions)
        bpy.ops.object.select_all(action="DESELECT")
        rig.select_set(True)
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.duplicate()
        double = bpy.context.active_object
        if OPS.remove_all.poll():
            OPS.remove_all()
        bpy.data.objects.remove(double)
        for action in set(bpy.data.actions) - known:
            bpy.data.actions.remove(action)
        bpy.context.view_layer.objects.active = rig
        rig.select_set(True)
        return ()

    def rename_ours(self):
        for track in self._tracks()[:1]:
            track.name = "mine {}".format(self.random.random())
            if track.strips[0].action is not None:
                track.strips[0].action.name = "other {}".format(self.random.random())
        return ()

    def _tracks(self):
        found = self._reaction()
        return [] if found is None else [track for track, _, _ in layer_undo.own_strips(armature(), found)]

    # -- the animator's own edits: done again without reactions --------------------------------------------------------

    def edit(self):
        number = self.random.randrange(10**6)
        kind = self.random.choice(tuple(EDITS))
        EDITS[kind](number)
        return ((kind, number),)

    # -- time ----------------------------------------------------------------------------------------------------------

    def undo(self):
        if self.at:
            bpy.ops.ed.undo()
            self.at -= 1

    def redo(self):
        if self.at < len(self.history) - 1:
            bpy.ops.ed.redo()
            self.at += 1

    def reload(self):
        bpy.ops.wm.save_as_mainfile(filepath=self.path)
        bpy.ops.wm.open_mainfile(filepath=self.path)
        self.history, self.at = [self.done], 0
        bpy.ops.ed.undo_push(message="reload")


STEPS = ["apply", "apply", "update", "remove", "edit_base", "tweak", "mute", "delete", "duplicate", "rename_ours"]
STEPS += ["edit", "edit", "undo", "undo", "redo", "reload"]


def start(template):
    """The demo character with a short reaction; actions are kept without a user, so that saving loses none."""
    rig = template("demo")
    rig.parametric_dynamics.sustain, rig.parametric_dynamics.relaxation = 0.05, 0.1
    for action in bpy.data.actions:
        action.use_fake_user = True


def armature():
    return next(item for item in bpy.data.objects if item.type == "ARMATURE")


def key(number):
    """Move a key of the clip."""
    curves = actions.all_curves(walk())
    curve = curves[number % len(curves)]
    curve.keyframe_points[number % len(curve.keyframe_points)].co.y += 0.1
    curve.update()


def longer(number):
    """A key after the clip's end."""
    curve = actions.all_curves(walk())[0]
    curve.keyframe_points.insert(40 + number % 20, 0.5)


def key_setting(number):
    """Keys of a setting in the clip's own action, beyond its end."""
    clip = walk()
    slot = clip.slots[0].identifier if actions.LAYERED else ""
    keyed = actions.Curve(actions.Channel("parametric_dynamics.tone", 0), "Settings", np.array([0.2, 0.9]))
    actions.replace(clip, slot, [keyed], np.array([3.0, 50.0 + number % 50]))


def rename_action(number):
    walk().name = "Walk {}".format(number)


def rename_object(number):
    armature().name = "Someone {}".format(number)


def scene(number):
    bpy.context.scene.frame_end = 30 + number % 50


def track(number):
    """A track of the animator's own on top, muted."""
    added = armature().animation_data.nla_tracks.new()
    added.name, added.mute = "own {}".format(number), True
    added.strips.new("Wave", 5, bpy.data.actions["Wave"])


EDITS = {f.__name__: f for f in (key, key_setting, longer, rename_action, rename_object, scene, track)}


def walk():
    return next(action for action in bpy.data.actions if action.name.startswith("Walk"))


@pytest.mark.parametrize("seed", LIVES)
def test_nothing_stays_behind(template, tmp_path, seed):
    life = Life(seed, tmp_path, template)
    life.live()
    set_frame(1)
    lived = file_state()
    start(template)
    for kind, number in life.done:
        EDITS[kind](number)
    set_frame(1)
    assert differences(file_state(), lived) == [], life.log
