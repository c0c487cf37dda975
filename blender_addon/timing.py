"""Frames of actions and frames of the scene, which differ where the scene's time is stretched (Time Remapping).

Everything of ours counts in frames of actions: that is where keys lie and what the NLA plays.
"""

import math


def stretch(scene):
    """Scene frames for one frame of an action."""
    return scene.render.frame_map_new / scene.render.frame_map_old


def rate(scene):
    """Frames of actions that play in a second."""
    return scene.render.fps / scene.render.fps_base / stretch(scene)


def show(scene, moment):
    """Let the scene show an action's frame, which may be fractional."""
    frame = moment * stretch(scene)
    whole = math.floor(frame + 1e-6)
    scene.frame_set(whole, subframe=max(frame - whole, 0.0))


def span(scene):
    """First and last frame of the scene's range, in frames of actions."""
    return scene.frame_start / stretch(scene), scene.frame_end / stretch(scene)
