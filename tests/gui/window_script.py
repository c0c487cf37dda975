"""Runs inside a Blender with a window: brings up the tab, then keeps telling the test what Blender shows.

blender --python window_script.py -- STATE.json TAB
The test outside moves the mouse and presses buttons, as a user does; nothing here calls what is tested.
"""

import json
import os
import sys
import traceback

import bpy

STATE, TAB = sys.argv[sys.argv.index("--") + 1 :][:2]
PERIOD = 0.1  # seconds between two looks


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
    for thing in list(bpy.data.objects):  # the default cube, lamp and camera
        bpy.data.objects.remove(thing)
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
        "tracks": [track.name for track in animation.nla_tracks] if animation else [],
        "actions": sorted(action.name for action in bpy.data.actions),
    }
    write(state)


def write(state):
    with open(STATE + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace(STATE + ".new", STATE)


def tick():
    try:
        if steps:
            steps.pop(0)()  # one a redraw: the sidebar must be drawn before it has tabs
        else:
            report()
    except Exception:
        write({"error": traceback.format_exc()})
        return None
    return PERIOD


steps = [maximise, add_character, frame_character, open_sidebar, open_sidebar, show_tab, show_tab]
bpy.context.preferences.view.show_splash = False
bpy.context.preferences.view.show_tooltips = False
bpy.app.timers.register(tick, first_interval=0.5)
