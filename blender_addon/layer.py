"""The one baker: reactions as NLA layers that leave everything else as it was.

    name = layer.apply(context, rig, name="Hit", frames=..., targets=..., base=...)
    layer.remove(context, rig, name)

Order of the tracks, from below: the user's own, holds of ours, the pushed-down action, continuations, reactions.
Everything is computed and checked first, then written; an exception while writing puts everything back.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.rotation import Array
from . import actions, handwork, layer_keys, nla, records, staleness, timing
from . import layer_checks as checks
from . import layer_curves as curves
from . import layer_undo as undo
from .actions import Channel, Curve
from .channels import Channels, Target
from .layer_curves import Plan
from .nla import LayerError, Stack

__all__ = ["LayerError", "Reaction", "apply", "apply_identity", "reactions", "remove", "rename"]

SUFFIX = {"action": "", "hold": " hold", "continuation": " clip"}


@dataclass(frozen=True)
class Reaction:
    """A reaction on a rig.  frames: first and last keyed frame.  intact: whether its track and keys still exist."""

    name: str
    blend: str
    frames: tuple[float, float]
    intact: bool
    warnings: tuple[str, ...]


def apply(
    context: Any,
    rig: Any,
    *,
    name: str,
    frames: ArrayLike,
    targets: dict[str, Target],
    base: Channels,
    continuation: Channels | None = None,
    blend: str = "COMBINE",
    hold: bool = False,
    key_tolerance: float = 0.0,
    keep: ArrayLike = (),
    keep_own: Mapping[str, Sequence[float]] = MappingProxyType({}),
    over: str = "",
    warnings: list[str] | None = None,
) -> str:
    """Bake a reaction to its own NLA track and return its final name.

    frames: (K,) ascending, K >= 2.  targets: bone -> where it shall be at them.  base: the evaluated channels of the
    rig at them.  continuation: the base's channels at whole frames after the clip's end, played from the first of them
    on and held after the last.  blend: "COMBINE" (deltas) or "REPLACE" (absolute).  hold: keep the last key's pose
    after the end, else the layer acts between first and last key only.  key_tolerance: [deg] that the bones may be off
    for the sake of fewer keys, 0 = a key at every frame; keep: frames that keep theirs besides the first and the last;
    keep_own: by bone, further ones.
    over: a reaction right above which the new one is laid, "" = above all.  warnings: gets what had to be left out.
    Raises LayerError, with nothing changed, where the rig cannot take a layer.
    """
    frames = _frames(frames)
    stack = checks.require(rig)
    if not targets:
        text = "No bone of '{}' moves at the {} frames from {:g} to {:g}. Let the reaction last longer."
        raise LayerError(text.format(rig.name, len(frames), frames[0], frames[-1]))
    plan = curves.plan_targets(rig, frames, targets, base, blend)
    if key_tolerance > 0.0:
        below = base if blend == "COMBINE" else None
        plan = layer_keys.thin(rig, plan, below, key_tolerance, np.asarray(keep), keep_own)
    goes_on = _goes_on(rig, stack, base, continuation) if continuation is not None else None
    record = _apply(context, rig, name, stack, plan, goes_on, blend, hold, over)
    if warnings is not None:
        warnings.extend(plan.warnings)
    return record.name


def apply_identity(context: Any, rig: Any, *, name: str, frames: ArrayLike, bones: list[str] | None = None) -> str:
    """Bake zero deltas on every channel of the bones (all where None): it must move nothing.  Raises as `apply`."""
    frames = _frames(frames)
    stack = checks.require(rig)
    plan = curves.plan_identity(rig, frames, bones)
    return _apply(context, rig, name, stack, plan, None, "COMBINE", False).name


def remove(context: Any, rig: Any, name: str) -> tuple[str, ...]:
    """Take a reaction off and put back what it changed; with the last one the rig's animation stands as before.

    Returns sentences on what was changed by hand meanwhile, and so was kept or could not be put back.
    """
    anim = rig.animation_data
    index = rig.parametric_dynamics_reactions.find(name)
    if index < 0:
        raise LayerError(f"'{rig.name}' has no reaction '{name}'. Choose one of the list.")
    if anim is not None and anim.use_tweak_mode:
        raise LayerError(f"'{rig.name}' is in tweak mode. Leave it in the NLA editor (Tab), then remove.")
    checks.require_own(rig, name)
    notes = undo.take_off(rig, index)
    _refresh(context, rig)
    return tuple(notes)


def rename(rig: Any, name: str, wanted: str, *, exactly: bool = False) -> str:
    """Give a reaction with its actions and tracks another name; returns the name it got.  LayerError as `remove`.

    exactly: that very name, though an action of somebody else may have it.
    """
    index = rig.parametric_dynamics_reactions.find(name)
    if index < 0:
        raise LayerError(f"'{rig.name}' has no reaction '{name}'. Choose one of the list.")
    record, anim = rig.parametric_dynamics_reactions[index], rig.animation_data
    final = wanted if exactly or wanted == name else records.free_name(rig, wanted)
    tracks = []
    for track, strip, layer in list(undo.own_strips(rig, record)):
        full = final + SUFFIX.get(layer, "")
        if track.name != full:
            track.name = nla.unused_track_name(anim, full)
        strip.name = full
        if strip.action is not None:
            strip.action.name = full
        tracks.append(track.name)
    record.tracks = records.dump(tracks)
    record.name = final
    return final


def reactions(rig: Any) -> tuple[Reaction, ...]:
    """The rig's reactions, in the order in which they were applied."""
    return tuple(_reaction(rig, record) for record in rig.parametric_dynamics_reactions)


def _reaction(rig: Any, record: Any) -> Reaction:
    frames = tuple(record.action.frame_range) if record.action is not None else (0.0, 0.0)
    intact = any(layer == "action" for _, _, layer in undo.own_strips(rig, record))
    return Reaction(record.name, record.blend, (frames[0], frames[1]), intact, tuple(records.load(record.warnings)))


def _frames(frames: ArrayLike) -> Array:
    frames = np.asarray(frames, dtype=np.float64)
    if frames.ndim != 1 or len(frames) < 2 or np.any(np.diff(frames) <= 0.0):
        raise ValueError(f"frames: expected at least two ascending frames, got {frames}")
    return frames


def _goes_on(rig: Any, stack: Stack, base: Channels, continuation: Channels) -> Plan:
    """The plan of the continuation, led in by the base one frame before where its clip has ended by then."""
    keyed = nla.keyed_channels(rig.animation_data, stack, undo.own_actions(rig))
    lead, before = None, float(continuation.frames[0]) - 1.0
    end = undo.clip_end(rig, stack)
    if end is not None and end <= before:
        lead = curves.at_frame(base, before)
    return curves.plan_continuation(rig, continuation, keyed, lead)


def _held_values(rig: Any, wanted: list[Curve], keyed: set[Channel]) -> list[tuple[Channel, float]]:
    """Channels of the plan that nothing below keys, with the values they have without any reaction of ours."""
    known = {Channel(p, i): v for r in rig.parametric_dynamics_reactions for p, i, v in records.load(r.held)}
    needed = dict.fromkeys(curve.channel for curve in wanted if curve.channel not in keyed)
    for channel in list(needed):
        if channel.path.endswith("rotation_quaternion"):  # the NLA knows whole quaternions only
            needed.update(dict.fromkeys(Channel(channel.path, i) for i in range(4)))
    return [(c, known[c] if c in known else float(rig.path_resolve(c.path)[c.index])) for c in needed]


def _apply(
    context: Any,
    rig: Any,
    name: str,
    stack: Stack,
    plan: Plan,
    goes_on: Plan | None,
    blend: str,
    hold: bool,
    over: str = "",
) -> Any:
    """Compute what is left to compute, write it, and take it all back if that fails."""
    if blend not in ("COMBINE", "REPLACE"):
        raise ValueError(f"blend: expected COMBINE or REPLACE, got {blend}")
    if not plan.curves:
        why = plan.warnings[0] if plan.warnings else "Unlock channels or choose others."
        raise LayerError(f"No channel of the chosen bones of '{rig.name}' can be keyed. {why}")
    keyed = nla.keyed_channels(rig.animation_data, stack, undo.own_actions(rig))
    held = _held_values(rig, plan.curves, keyed)
    record = rig.parametric_dynamics_reactions.add()
    record.name = records.free_name(rig, name)
    record.blend = blend
    record.warnings = records.dump(plan.warnings)
    try:
        _write(rig, record, stack, plan, held, goes_on, _span(context, plan, goes_on), hold, over)
    except Exception:
        undo.take_off(rig, len(rig.parametric_dynamics_reactions) - 1)
        _refresh(context, rig)
        raise
    for action in undo.own_actions_of(rig, record):
        handwork.note(action)
    _refresh(context, rig)
    staleness.note(rig, record)
    return record


def _span(context: Any, plan: Plan, goes_on: Plan | None) -> tuple[float, float]:
    """The frames that somebody will look at."""
    scene = context.scene
    ends = [*timing.span(scene), scene.frame_current_final, plan.frames[0], plan.frames[-1]]
    if scene.use_preview_range:
        ends += [frame / timing.stretch(scene) for frame in (scene.frame_preview_start, scene.frame_preview_end)]
    if goes_on is not None:
        ends.append(goes_on.frames[-1])
    return float(min(ends)), float(max(ends))


def _write(
    rig: Any,
    record: Any,
    stack: Stack,
    plan: Plan,
    held: list[tuple[Channel, float]],
    goes_on: Plan | None,
    span: tuple[float, float],
    hold: bool,
    over: str,
) -> None:
    anim, index = rig.animation_data, len(rig.parametric_dynamics_reactions) - 1
    first = records.base_of(rig) is None
    if first:
        undo.remember(rig, stack)
    undo.note_active(rig)
    if held:
        _write_hold(rig, record, held, span)
    if first and anim.action is not None and actions.curves_of(anim.action, actions.slot_of(anim)):
        records.base_of(rig).track = nla.push_down(anim, stack, span).name
    if first:
        undo.silence(rig, stack)
    if goes_on is not None and goes_on.curves:
        record.continuation, slot = actions.create(
            record.name + SUFFIX["continuation"], rig, goes_on.curves, goes_on.frames
        )
        start, end = goes_on.frames[0], goes_on.frames[-1]
        track = nla.new_track(anim, record.continuation.name, undo.track_below_reactions(rig, index, end))
        undo.note_track(record, track.name)
        end = end if end > start else start + 1.0
        nla.new_strip(track, record.continuation, slot, start, end, "REPLACE", "HOLD_FORWARD")
    record.action, slot = actions.create(record.name, rig, plan.curves, plan.frames)
    track = nla.new_track(anim, record.name, undo.track_of(rig, over))
    undo.note_track(record, track.name)
    beyond = "HOLD_FORWARD" if hold else "NOTHING"
    nla.new_strip(track, record.action, slot, plan.frames[0], plan.frames[-1], record.blend, beyond)


def _write_hold(rig: Any, record: Any, held: list[tuple[Channel, float]], span: tuple[float, float]) -> None:
    """A strip below everything of ours that keeps the present values where nothing else keys them."""
    record.held = records.dump([[c.path, c.index, value] for c, value in held])
    bones = {bone.path_from_id(): bone.name for bone in rig.pose.bones}
    start, end = math.floor(span[0]), math.ceil(span[1])
    frozen = [Curve(c, bones.get(c.path.rpartition(".")[0], "Held"), np.array([value])) for c, value in held]
    record.hold, slot = actions.create(record.name + SUFFIX["hold"], rig, frozen, np.array([float(start)]))
    index = len(rig.parametric_dynamics_reactions) - 1
    track = nla.new_track(rig.animation_data, record.hold.name, undo.track_below_layers(rig, index))
    undo.note_track(record, track.name)
    nla.new_strip(track, record.hold, slot, start, max(end, start + 1), "REPLACE", "HOLD")


def _refresh(context: Any, rig: Any) -> None:
    """Let Blender evaluate the rig at the current frame, so that what is stored is what plays."""
    rig.update_tag(refresh={"OBJECT", "DATA", "TIME"})
    context.view_layer.update()
