"""Blend Actions: another action of the rig joins the one that plays, and the mixture becomes a layer like a reaction.

made = blending.read(context, armature, wish)    refuses, changes nothing
name = made.write(context)                       the baker
"""

import json
from dataclasses import dataclass, field, replace
from functools import partial

import bpy
import numpy as np

from ..core.anatomy import analyse
from ..core.blend import Layer, automatic, blend, standing, together
from ..core.pose import UNIMPORTANT, VERY_IMPORTANT, Envelope
from ..core.rotation import conjugate, multiply
from . import (
    actions,
    choosing,
    clip,
    control_rig,
    fk,
    layer,
    records,
    rehung,
    rig,
    sampling,
    source,
    thinning,
    timing,
)
from .channels import Channels, Target, frame_grid, rotation_property

STUMBLE = 0.15, 0.4  # [s] in which an action takes over at a hit, and gives back
NOTHING_DEG, NOTHING_PART = 1e-3, 1e-6  # turns, and shifts as parts of the rig's size, that are not worth a key


@dataclass(frozen=True)
class Wish:
    """What shall be blended.

    action, slot: the other action; slot "" = the one that keys most bones.  frame: where it begins.
    attack, relaxation: its transition [s].  sustain: [s] in between, None = until its last key.
    clip, other: importance of what plays and of the action, None = both by their motion.  bones: names of those that
    may take part, None = all that the action keys.  repeat: whether it starts again after its last key.
    """

    action: str
    slot: str = ""
    frame: float = 1.0
    attack: float = 0.3
    sustain: float | None = None
    relaxation: float = 0.3
    clip: float | None = None
    other: float | None = None
    bones: tuple[str, ...] | None = None
    repeat: bool = False
    key_tolerance: float = 0.0


@dataclass(eq=False)
class Blend:
    """A mixture, ready to be written.  targets: bone -> Target at the frames of base."""

    armature: str
    title: str
    wish: Wish
    targets: dict[str, Target]
    base: Channels
    continuation: Channels | None = None
    warnings: list[str] = field(default_factory=list)

    def write(self, context) -> str:
        """Bake the mixture to its own NLA layer, and choose it in the list; its name."""
        armature, notes = bpy.data.objects[self.armature], list[str]()
        bake = partial(
            layer.apply,
            context,
            armature,
            name=self.title,
            frames=self.base.frames,
            targets=self.targets,
            base=self.base,
            continuation=self.continuation,
            warnings=notes,
        )
        tolerance = self.wish.key_tolerance
        body = control_rig.read(context, armature) if tolerance > 0.0 else None
        if body is None or not body.controlled:
            name = bake(key_tolerance=tolerance)
        else:
            measured = body.skeleton, lambda bone: list(self.targets)  # what moves it, nobody has sought
            name = thinning.thinned(context, armature, *measured, self.base.frames, bake, tolerance, warnings=notes)
        self.warnings.extend(dict.fromkeys(notes))
        kept = armature.parametric_dynamics_reactions
        kept[name].recipe = records.BLEND + json.dumps(vars(self.wish)) + "}"
        armature.parametric_dynamics.active_reaction = kept.find(name)
        return name


def read(context, armature, wish, roles=None):
    """The Blend of what plays on the armature and another action; CoreError where there is nothing to blend.

    roles: bone name -> role, stronger than what is found.
    """
    rig.require_editable(armature)
    rig.require_posed(armature)
    found = source.require(armature)
    chosen = _chosen(armature, wish)
    action = bpy.data.actions[chosen.name]
    slot = action.slots.get(chosen.slot) if actions.LAYERED else None
    first, last = choosing.key_range(chosen)
    rate = timing.rate(context.scene)
    envelope = _envelope(wish, (last - first) / rate)
    frames = frame_grid(wish.frame, wish.frame + envelope.duration * rate)
    skeleton = rig.read(context, armature)
    _, base, _, continuation = clip.read_on(context, armature, skeleton, frames, found)
    other, keyed = sampling.action_channels(armature, skeleton.names, action, slot, _phase(wish, frames, first, last))
    anatomy = analyse(skeleton, roles)
    targets = _targets(armature, anatomy, base, other, keyed, wish, envelope, rate)
    silent = choosing.unheard(armature, chosen, wish.bones)
    if not targets:
        text = "Action '{}' changes nothing here: raise its importance, choose other bones, or another start."
        raise choosing.InputError(silent or text.format(wish.action))
    warnings = [*filter(None, [silent]), *_hidden(armature, targets)]
    titles = [choosing.title(name, armature.name) for name in (found.action, chosen.name)]
    return Blend(armature.name, " + ".join(titles), wish, targets, base, continuation, warnings)


def stumble(context, armature, action, frame, attack, relaxation, roles=None):
    """Let an action take the whole body over from a hit at the frame on, for a reaction on top; the facts of it.

    attack, relaxation: its transition [s].  roles: as in `read`.  CoreError where there is nothing to blend, with
    nothing changed.
    """
    wish = Wish(action, frame=frame, attack=attack, relaxation=relaxation, clip=UNIMPORTANT, other=VERY_IMPORTANT)
    made = read(context, armature, wish, roles)
    name = made.write(context)
    last = float(made.base.frames[-1])
    return {"action": action, "layer": name, "frames": [frame, last], "attack_s": attack, "relaxation_s": relaxation}


def _chosen(armature, wish):
    """The Candidate that is meant."""
    found = choosing.by_name(armature, wish.action)
    if not wish.slot or not actions.LAYERED:
        return found
    slots = bpy.data.actions[found.name].slots
    if slots.get(wish.slot) is None:
        text = "Action '{}' has no slot '{}'. {}"
        offered = choosing.offer("It has", wish.slot, [slot.identifier for slot in slots])
        raise choosing.InputError(text.format(found.name, wish.slot, offered))
    return replace(found, slot=wish.slot)


def _envelope(wish, length):
    """The transition: as long as the action where no sustain is given."""
    sustain = wish.sustain
    if sustain is None:
        sustain = max(length - wish.attack - wish.relaxation, 0.0)
    return Envelope(wish.attack, sustain, wish.relaxation)


def _phase(wish, frames, first, last):
    """Frames (K,) of the action that show at the frames of the scene."""
    gone = frames - wish.frame
    return first + (np.mod(gone, last - first) if wish.repeat and last > first else np.minimum(gone, last - first))


def _targets(armature, anatomy, base, other, keyed, wish, envelope, rate):
    """Targets by the pipeline; what the other action doesn't key is taken as it is below."""
    hung = rehung.find(armature, base.names, anatomy, base)
    turns, moves = _keyed(armature, base, keyed)
    other = rehung.with_bases(
        other,
        np.where(turns[:, None], fk.rotations(other), fk.rotations(base)),
        np.where(moves[:, None], other.location, base.location),
    )
    (below, at), (rotation, location) = hung.joints(base), hung.joints(other)
    allowed = np.array([wish.bones is None or name in wish.bones for name in base.names])
    turns, moves = turns & allowed, moves & allowed
    rotation[:, ~turns], location[:, ~moves] = below[:, ~turns], at[:, ~moves]
    plays = Layer(below, at, np.zeros(len(turns)))
    joins = Layer(rotation, location, np.zeros(len(turns)), envelope, wish.frame / rate)
    own, new = automatic(plays, joins, anatomy.size)
    own, new = together(own, new, *standing(anatomy))
    own = own if wish.clip is None else np.full(len(own), wish.clip)
    new = np.where(turns | moves, new if wish.other is None else wish.other, 0.0)
    mixed = blend([replace(plays, importance=own), replace(joins, importance=new)], base.frames / rate)
    return _changed(base, *hung.bases(base, mixed.rotation, mixed.translation), anatomy.size)


def _changed(base, rotation, location, size):
    """{bone: Target} of the bones whose bases (K, n, 4), (K, n, 3) are not those of the clip."""
    turned = np.degrees(np.max(2.0 * np.abs(_between(fk.rotations(base), rotation)), axis=(0, 2))) > NOTHING_DEG
    moved = np.max(np.abs(location - base.location), axis=(0, 2)) > NOTHING_PART * size
    return {
        name: Target(rotation[:, i] if turned[i] else None, location[:, i] if moved[i] else None)
        for i, name in enumerate(base.names)
        if turned[i] or moved[i]
    }


def _keyed(armature, base, keyed):
    """(n,) bool: bones whose rotation, and whose location, the action gives.  A root's location is travel and stays."""
    turn = [(name, rotation_property(mode)) in keyed for name, mode in zip(base.names, base.modes, strict=True)]
    bones = [armature.data.bones[name] for name in base.names]
    free = [bone.parent is not None and not bone.use_connect for bone in bones]
    move = [(name, "location") in keyed and free[i] for i, name in enumerate(base.names)]
    return np.array(turn), np.array(move)


def _between(a, b):
    """Vector parts (T, n, 3) of the rotations from a to b."""
    return multiply(conjugate(a), b)[..., 1:]


def _hidden(armature, targets):
    """What blending can't reach, in one sentence."""
    owners = {name: owner for name, owner in rig.constraint_owners(armature).items() if name in targets}
    if not owners:
        return []
    bone, owner = next(iter(owners.items()))
    return ["Blending doesn't show on {} bones that something else moves ('{}': {}).".format(len(owners), bone, owner)]
