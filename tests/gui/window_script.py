"""Runs inside a Blender with a window: brings up the tab, then keeps telling the test what Blender shows.

blender --python window_script.py -- STATE.json TAB
The test outside moves the mouse and presses buttons, as a user does; what it can't reach so (a value to start with, the
redo panel) it writes as Python into STATE.json.todo, which is run here.
"""

import json
import os
import sys
import traceback

import bpy

STATE, TAB = sys.argv[sys.argv.index("--") + 1 :][:2]
TODO = STATE + ".todo"
PERIOD = 0.1  # seconds between two looks
MAIN = "DYNAMICS_PT_main"
done = 0  # files of TODO that have been run
changed = []  # (panel class that is shown otherwise, what it says of itself)


def view():
    """The window, the largest 3D view and its regions by type, as one override."""
    window = bpy.context.window_manager.windows[0]
    areas = [area for area in window.screen.areas if area.type == "VIEW_3D"]
    area = max(areas, key=lambda item: item.width * item.height)
    return window, area, {region.type: region for region in area.regions}


def override():
    window, area, regions = view()
    return bpy.context.temp_override(window=window, area=area, region=regions["WINDOW"])


def maximise():
    with override():
        bpy.ops.screen.screen_full_area()


def add_character():
    """The demo character in an empty scene (without the default cube, lamp and camera, and what a test left)."""
    with override():
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
    for things in (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.actions):
        for thing in list(things):
            things.remove(thing)
    with override():
        bpy.ops.parametric_dynamics.add_demo_character()


def frame_character():
    with override():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_selected()


def open_sidebar():
    _, area, _ = view()
    area.spaces.active.show_region_ui = True


def show_tab():
    _, area, regions = view()
    regions["UI"].active_panel_category = TAB
    area.tag_redraw()


def restart():
    """Everything as a test wants to find it."""
    close_panels()
    add_character()
    frame_character()
    window, area, regions = view()
    with bpy.context.temp_override(window=window, area=area, region=regions["UI"]):
        bpy.ops.view2d.reset()  # scroll up
    bpy.context.window_manager.clipboard = ""
    push_undo()


def open_panels(classes):
    """Show sub-panels open: whether one is has been remembered under its name since it was first drawn."""
    for cls in classes:
        _note(cls)
        _register(cls, {"bl_idname": cls.__name__ + "_open", "bl_options": set(), "bl_parent_id": MAIN})


def hide_panels(classes):
    """Show these not at all."""
    for cls in classes:
        _note(cls)
        bpy.utils.unregister_class(cls)


def _note(cls):
    changed.append((cls, {name: vars(cls).get(name) for name in ("bl_idname", "bl_options", "bl_parent_id")}))


def close_panels():
    """Show them again as the add-on has them."""
    for cls, values in changed:
        _register(cls, values)
    changed.clear()


def _register(cls, values):
    if cls.is_registered:
        bpy.utils.unregister_class(cls)
    for name, value in values.items():
        if value is not None:
            setattr(cls, name, value)
        elif name in vars(cls):
            delattr(cls, name)
    bpy.utils.register_class(cls)


def push_undo():
    """What a script does is no step of its own; what a user does is."""
    with override():
        bpy.ops.ed.undo_push(message="Start")


def report():
    window, _, regions = view()
    sidebar = regions["UI"]
    active = bpy.context.view_layer.objects.active
    animation = active.animation_data if active else None
    state = {
        "ready": not steps,
        "sidebar": [sidebar.x, window.height - sidebar.y - sidebar.height, sidebar.width, sidebar.height],
        "tab": sidebar.active_panel_category,
        "clipboard": bpy.context.window_manager.clipboard,
        "active": active.name if active else "",
        "mode": bpy.context.mode,
        "frame": bpy.context.scene.frame_current,
        "bone": bpy.context.active_bone.name if bpy.context.active_bone else "",
        "modal": [operator.bl_idname for operator in window.modal_operators],
        "tracks": [track.name for track in animation.nla_tracks] if animation else [],
        "actions": sorted(action.name for action in bpy.data.actions),
        "active_action": animation.action.name if animation and animation.action else "",
        "reactions": [item.name for item in active.parametric_dynamics_reactions] if active else [],
        "hits": len(active.parametric_dynamics_hits) if active else 0,
        "impulse": active.parametric_dynamics.impulse if active else 0.0,
        "turns": turns(active),
        "done": done,
    }
    write(state)


def turns(rig):
    """A number that tells one reaction from another: the sum of its keyed rotations."""
    kept = rig.parametric_dynamics_reactions if rig else []
    found = [item.action for item in kept if item.action is not None]
    curves = [curve for action in found for curve in action.fcurves]
    vectors = [curve for curve in curves if "quaternion" not in curve.data_path or curve.array_index]
    return sum(abs(point.co[1]) for curve in vectors for point in curve.keyframe_points)


def run_todo():
    global done
    if not os.path.exists(TODO):
        return
    with open(TODO, encoding="utf-8") as file:
        source = file.read()
    os.remove(TODO)
    exec(compile(source, TODO, "exec"), globals())
    done += 1


def write(state):
    with open(STATE + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace(STATE + ".new", STATE)


def tick():
    try:
        if steps:
            steps.pop(0)()  # one a redraw: the sidebar must be drawn before it has tabs
        else:
            run_todo()
            report()
    except Exception:
        write({"error": traceback.format_exc()})
        return None
    return PERIOD


steps = [maximise, add_character, frame_character, push_undo, open_sidebar, open_sidebar, show_tab, show_tab]
bpy.context.preferences.view.show_splash = False
bpy.context.preferences.view.show_tooltips = False
bpy.app.timers.register(tick, first_interval=0.5)
