"""Rigs that wave while they walk: an action is blended over the walk by Blend Actions, repeated."""

from . import corpus, moments

WAVES = {  # what is blended over the walk: file, action
    "demo": ("", "Wave"),
    "kaykit": (corpus.GAME + "kaykit/Med_Simulation.glb", "Waving"),
    "cyberpunk": ("", "Wave"),
    "pab": (corpus.GAME + "ozz_pab/pab_crossarms.fbx", "crossarms"),
}
TOLD = "Waving is an action blended over the walk by Blend Actions, repeated: {}.".format(
    ", ".join("{} {}".format(rig, action) for rig, (_, action) in WAVES.items())
)
LONG = 20.0  # [s] for which the wave is repeated


def opened(ours, data, rig):
    """The armature of one of WAVES, in a scene of its own, with a wave over its walk.  ours: see `moments.start`."""
    import bpy

    blending, choosing = ours("blender_addon.blending"), ours("blender_addon.choosing")
    armature = moments.opened(ours, data, rig)
    file, title = WAVES[rig]
    if file:
        _adopt(ours, armature, data / file, title)
    wave = next(item for item in choosing.candidates(armature) if title in (item.title, item.name))
    found = ours("blender_addon.source").of(armature)
    wish = blending.Wish(wave.name, wave.slot, frame=found.start, attack=0.0, sustain=LONG, repeat=True)
    blending.read(bpy.context, armature, wish).write(bpy.context)
    return armature


def _adopt(ours, armature, file, title):
    """Bring an action of another file to the armature and let the walk go on."""
    import bpy

    choosing = ours("blender_addon.choosing")
    walk = ours("blender_addon.source").of(armature).action
    for action in bpy.data.actions:
        action.use_fake_user = True
    ours("blender_addon.donor").take(file, armature, title, None)
    for action in bpy.data.actions:
        action.use_fake_user = True
    choosing.play(armature, next(item for item in choosing.candidates(armature) if item.name == walk))
