"""Settings that are keyed or driven: a reaction is made with the values that they have when its hits land.

What belongs to one hit is taken at its own frame; what belongs to the whole body, on bones too, at the first hit's.
Numbers of the muscles (`settings.OVER_TIME`) that move from there to the reaction's end are followed: they become
curves over the time since the hit.
The frame of a hit itself is taken as it stands.  Keys of settings may lie in the clip's own action or in another one:
nothing that reads the clip looks at them (`actions.curves_of`).
"""

import contextlib
from dataclasses import replace

import numpy as np

from ..core.blows import lasts
from ..core.progress import portion, run
from . import actions, nla, recipe, sampling, settings, timing


def animated(armature, among=None):
    """Whether something that plays on the armature keys or drives settings of ours.  among: only these properties."""
    return any(among is None or path.rpartition(".")[2] in among for path in _paths(armature))


def _paths(armature):
    """The RNA paths of the settings that are keyed or driven."""
    data = armature.animation_data
    if data is None:
        return set()
    players = [data, *nla.strips_of(data.nla_tracks)]
    paths = {c.data_path for p in players for c in actions.settings_of(p.action, actions.slot_of(p))}
    return paths | {driver.data_path for driver in data.drivers if actions.is_setting(driver.data_path)}


def at_hits(context, armature, made):
    """The panel's recipe with keyed values as they are when each hit lands, or from then on: a generator."""
    active = [i for i, hit in enumerate(made.hits) if hit.enabled]
    if not active or not animated(armature):
        return made
    moments = recipe.frames(context, armature, [made.hits[i] for i in active])
    with shown(context, armature, min(moments)):
        whole = settings.recipe(armature)
    hits, part = list(made.hits), 1.0 / (len(active) + 1.0)
    for k, (i, moment) in enumerate(zip(active, moments, strict=True)):
        with shown(context, armature, moment):
            now = replace(settings.hit(settings.holders(armature)[i]), frame=hits[i].frame, after=hits[i].after)
            muscles = _keyed(armature, settings.holders(armature)[i])
        end = moment + timing.rate(context.scene) * lasts(now.situation)
        steps = _following(context, armature, moment, end, lambda i=i: _muscles(settings.holders(armature)[i]))
        muscles |= yield from portion(steps, k * part, part)
        hits[i] = replace(now, situation=now.situation.with_changes(**muscles))
    first, last = span(context, armature, hits)
    found = yield from portion(following_bones(context, armature, first, last), 1.0 - part, part)
    return replace(whole, hits=tuple(hits), bones=found)


def span(context, armature, hits):
    """First frame of a hit that is switched on, and the frame at which the last of their reactions ends."""
    active = [hit for hit in hits if hit.enabled]
    moments = recipe.frames(context, armature, active) or [0.0]
    rate = timing.rate(context.scene)
    ends = [start + rate * lasts(hit.situation) for start, hit in zip(moments, active, strict=False)]
    return min(moments), max(ends, default=0.0)


def bones(context, armature, start, end):
    """`settings.bones` at a frame; what moves until another frame follows."""
    return run(following_bones(context, armature, start, end))


def following_bones(context, armature, start, end):
    """`bones` as a generator of its progress."""
    with shown(context, armature, start):
        found = settings.bones(armature)
    own = [(name, field) for name, values in found.items() for field in values if field in settings.OVER_TIME]

    def now():
        values = {name: settings.bone_values(armature.pose.bones[name]) for name, _ in own}
        return {(name, field): values[name].get(field) for name, field in own}

    curves = (yield from _following(context, armature, start, end, now)) if own else {}
    for (name, field), curve in curves.items():
        found[name][field] = curve
    return found


def _muscles(holder):
    return {name: settings.plain(getattr(holder, name)) for name in settings.OVER_TIME}


def _keyed(armature, holder):
    """The muscles' numbers that are keyed or driven: no curve of a loaded situation stands for them."""
    paths, own = _paths(armature), holder.path_from_id()
    return {name: value for name, value in _muscles(holder).items() if "{}.{}".format(own, name) in paths}


def _following(context, armature, start, end, now):
    """Which of the numbers that `now` gives move from a frame to another, as their curves over the time since [s].

    A generator of its progress.  A number that is None at a frame is passed over there.
    """
    if not animated(armature, settings.PROPERTIES_OVER_TIME):
        return {}
    times = np.arange(np.ceil(end - start) + 1.0)
    seen = []
    with shown(context, armature, start):
        for k in times:
            timing.show(context.scene, start + k)
            seen.append(now())
            yield len(seen) / len(times)
    curves = {}
    for name in seen[0]:
        points = [(k / timing.rate(context.scene), one[name]) for k, one in zip(times, seen, strict=True)]
        points = _bare([(round(float(t), 6), value) for t, value in points if value is not None])
        if len(points) > 1:
            curves[name] = tuple(points)
    return curves


def _bare(points):
    """The points of a curve without those inside and at the end of a level stretch."""
    level = [a[1] == b[1] for a, b in zip(points, points[1:], strict=False)]
    before, after = [False, *level], [*level, True]
    return [p for p, b, a in zip(points, before, after, strict=True) if not (b and a)]


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
