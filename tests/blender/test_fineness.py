"""Real rigs react in the sub-steps that are chosen as in fine ones all the way (docs/dynamics.md, "How fine")."""

from unittest import mock

import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.core import drive
from bl_ext.user_default.parametric_dynamics.core.pace import Pace

from tests.blender import acceptance_tools as tools

FINE = 960.0  # [1/s]
PEAK, WAY = 5.0, 6.0  # percent of the largest peak: of any joint's peak, and of any joint at any moment
GAME = "1_game_characters/"
KAYKIT = GAME + "kaykit/manny_med_mod.gltf", GAME + "kaykit/Med_MovementBasic.glb", "Walking_A"
WALKS = {
    "cyberpunk": (GAME + "quaternius/cyberpunk_Character.glb", "", "Walk", "chest_front"),
    "kaykit": (*KAYKIT, "chest_front"),
    "pab": (GAME + "ozz_pab/pab_walk.fbx", "", "", "chest_front"),
    "cmu": ("2_mocap/cmu/02_01_walk.bvh", "", "", "chest_front"),
    "fox": (GAME + "khronos/Fox.glb", "", "Walk", "chest_front"),
}


@pytest.mark.parametrize("rig", WALKS)
def test_real_rigs_react_as_in_fine_steps(addon, data, rig):
    """Feet that stand were of first order: Fox's forearm was 15 % off.  In long steps at the end a foot of pab was 12 %
    off, a neck that was recorded 19."""
    path, clip, action, preset = WALKS[rig]
    armature = tools.loaded(data / path, clip=data / clip if clip else None, action=action or None)
    _, own = tools.solved(armature, preset)
    always = {name: mock.Mock(return_value=told) for name, told in (("repeats", False), ("least", 0), ("relaxed", 0))}
    with mock.patch.object(drive, "SUBSTEP", 1.0 / FINE), mock.patch.multiple(Pace, **always):
        _, fine = tools.solved(armature, preset)
    assert fine.substeps > 1.5 * own.substeps
    peaks, most = fine.peaks(), max(fine.peaks().values())
    times = np.arange(fine.start, fine.end, 1.0 / 60.0)
    off = np.degrees(np.linalg.norm(own.deviation(times)[0] - fine.deviation(times)[0], axis=-1))
    peak = max(abs(own.peaks()[bone] - peaks[bone]) for bone in peaks)
    print(f"{rig}: peaks off by {100 * peak / most:.1f} %, on the way {100 * off.max() / most:.1f} %")
    assert peak < 0.01 * PEAK * most
    assert off.max() < 0.01 * WAY * most
