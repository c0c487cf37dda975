"""Settings that are keyed or driven: a reaction is made with the values that they have when its hits land.

What belongs to one hit is taken at its own frame; what belongs to the whole body, on bones too, at the first hit's.
The frame of a hit itself is taken as it stands.  Keys of settings may lie in the clip's own action or in another one:
nothing that reads the clip looks at them (`actions.curves_of`).
"""

import contextlib
from dataclasses import replace

from . import actions, nla, recipe, sampling, settings, timing


def animated(armature):
    """Whether something that plays on the armature keys or drives settings of ours."""
    data = armature.animation_data
    if data is None:
        return False
    players = [data, *nla.strips_of(data.nla_tracks)]
    if any(actions.settings_of(player.action, actions.slot_of(player)) for player in players):
        return True
    return any(actions.is_setting(driver.data_path) for driver in data.drivers)


def at_hits(context, armature, made):
    """The panel's recipe with keyed values as they are when each hit lands."""
    active = [i for i, hit in enumerate(made.hits) if hit.enabled]
    if not active or not animated(armature):
        return made
    moments = recipe.frames(context, armature, [made.hits[i] for i in active])
    with shown(context, armature, min(moments)):
        whole = settings.recipe(armature)
    hits = list(made.hits)
    for i, moment in zip(active, moments, strict=True):
        with shown(context, armature, moment):
            now = settings.hit(settings.holders(armature)[i])
        hits[i] = replace(now, frame=hits[i].frame, after=hits[i].after)
    return replace(whole, hits=tuple(hits))


@contextlib.contextmanager
def shown(context, armature, frame):
    """While it lasts, the armature's settings are those of the frame."""
    if not animated(armature):
        yield
        return
    armature.update_tag(refresh={"OBJECT", "DATA", "TIME"})  # an action that a script has just made may not play yet
    with sampling.kept_frame(context.scene, armature):
        timing.show(context.scene, frame)
        yield
