"""What a file holds: its armature, what its bones are, its actions, and whether a hit reaction can be made of it."""

from dataclasses import replace

import bpy

from ..core import stance
from ..core.errors import CoreError
from ..core.situation import named, presets
from . import checklist, choosing, control_rig, figures, files, importing, moments, rig, source, timing
from . import job as jobs


def inspect(options):
    """Facts about the input as a JSON-ready dict; raises where there is no armature to tell about."""
    importing.check(options.input)
    refusal, opened = "", None
    try:
        opened = files.open_input(options.input, options.clip, options.armature, options.action)
    except choosing.InputError as error:
        armature = _still_there(options)
        if armature is None:
            raise
        refusal = str(error)
    else:
        armature = bpy.data.objects[opened.armature]
    facts = _body(armature)
    facts.update(_clips(armature, opened))
    facts["constrained_bones"] = dict(sorted(rig.constraint_owners(armature).items()))
    facts["warnings"] = list(opened.warnings) if opened else []
    facts["controls"], facts["feet_stand"], facts["limits"] = {}, {}, {}
    facts["situations"] = {} if refusal else _situations(armature, facts)
    reasons = list(facts["situations"].values())
    facts["refused"] = refusal or (reasons[0] if all(reasons) else "")
    facts["checks"] = [item._asdict() for item in _checks(armature, facts)]
    return facts


def _still_there(options):
    """The armature of a file that could be opened but has no clip to play, where nothing else was asked for."""
    if options.armature or options.action or options.clip:
        return None
    found = [item for item in bpy.context.view_layer.objects if item.type == "ARMATURE" and len(item.data.bones)]
    return max(found, key=lambda item: (len(item.data.bones), item.name), default=None)


def _body(armature):
    body = control_rig.read(bpy.context, armature)
    skeleton, anatomy = body.skeleton, body.anatomy
    scale = abs(armature.matrix_world.determinant()) ** (1 / 3)
    figures.keep(armature, anatomy, skeleton.names)
    return {
        "blender": bpy.app.version_string,
        "armature": armature.name,
        "armatures": sorted(item.name for item in bpy.context.view_layer.objects if item.type == "ARMATURE"),
        "bones": len(body.whole.names),
        "kind": anatomy.kind,
        "roles": dict(zip(skeleton.names, anatomy.role, strict=True)),
        "roles_note": anatomy.fallback,
        "body_height_m": jobs.usual_height(anatomy),
        "scene_height": round(float(anatomy.size) * scale, 4),
        "skinned": skeleton.skin is not None,
    }


def _clips(armature, opened):
    found = source.of(armature) if opened else None
    offered = sorted(choosing.candidates(armature), key=lambda item: item.name)
    return {
        "fps": timing.rate(bpy.context.scene),
        "actions": [_clip(item) for item in offered],
        "action": found.action if found else "",
        "action_choice": opened.why if opened else "",
        "frame_range": [found.start, found.end] if found else [],
        "default_hit_frame": moments.default_frame(found) if found else None,
    }


def _clip(item):
    return {
        "name": item.name,
        "title": item.title,
        "frame_range": list(choosing.key_range(item)),
        "moved_bones": item.bones,
    }


def _situations(armature, facts):
    """{preset: "" or why it would be refused}; adds to the facts what reading the rig has told."""
    names = presets()
    try:
        job = jobs.read(bpy.context, armature, named(names[0]))
    except CoreError as error:
        return dict.fromkeys(names, str(error))
    facts["warnings"] += [text for text in job.warnings if text not in facts["warnings"]]
    facts["feet_stand"] = _standing(job)
    facts["controls"] = job.body.by_control
    facts["limits"] = {bone: str(stop) for bone, stop in job.actor.limits.items()}
    return {name: _refusal(replace(job, hits=((named(name), job.hits[0][1]),))) for name in names}


def _standing(job):
    """{foot: part of the time around the hit for which it stands}."""
    found = stance.read(job.actor, job.smooth, job.hits[0][1].frame / job.clip.fps)
    if found is None:
        return {}
    return {job.actor.names[limb.end]: float(found.down[:, i].mean().round(2)) for i, limb in enumerate(found.limbs)}


def _checks(armature, facts):
    """The set-up's list, with what only a reading of the clip can tell."""
    for item in checklist.of(bpy.context, armature):
        stands = facts["feet_stand"] if item.name == "contacts" and item.state == checklist.OK else {}
        if stands:
            parts = ", ".join("'{}' {:.0f} %".format(name, 100.0 * part) for name, part in stands.items())
            item = item._replace(text="Feet stand around the hit: {}.".format(parts))
        if (item.name, item.state) == ("clip", checklist.REFUSE):
            item = item._replace(cure=item.cure + " To a command, name --action or --clip.")
        yield item
    possible = [name for name, reason in facts["situations"].items() if not reason]
    if facts["refused"]:
        yield checklist.Item("reaction", checklist.REFUSE, facts["refused"])
    else:
        text = "{} of {} situations are possible.".format(len(possible), len(facts["situations"]))
        yield checklist.Item("reaction", checklist.OK, text)


def _refusal(job):
    """Why a job would be refused, or ""; the first sub-step tells."""
    try:
        next(job.solve())
    except CoreError as error:
        return str(error)
    return ""


def _reach(bones):
    """ "moves 'a'" or "moves 'a' and 4 more"."""
    more = " and {} more".format(len(bones) - 1) if len(bones) > 1 else ""
    return "moves '{}'{}".format(bones[0], more)


def as_text(facts):
    """For people."""
    lines = [
        "Armature  {} ({} bones, {}, {:g} m assumed, {:g} units in the scene)".format(
            facts["armature"], facts["bones"], facts["kind"], facts["body_height_m"], facts["scene_height"]
        ),
        "Rate      {:g} frames per second".format(facts["fps"]),
    ]
    for item in facts["actions"]:
        first, last = item["frame_range"]
        chosen = "  <- {}".format(facts["action_choice"]) if item["name"] == facts["action"] else ""
        lines.append("Action    {}  {:g} to {:g}{}".format(item["name"], first, last, chosen))
    lines += ["Role      {:<14} {}".format(role, bone) for bone, role in facts["roles"].items() if role]
    if facts["controls"]:
        lines += ["Control   {:<24} {}".format(name, _reach(bones)) for name, bones in facts["controls"].items()]
    else:
        lines += ["Owned     {} by {}".format(bone, owner) for bone, owner in facts["constrained_bones"].items()]
    lines += ["Limit     {:<14} {}".format(bone, text) for bone, text in facts["limits"].items()]
    for item in facts["checks"]:
        told = " ".join(filter(None, (item["text"], item["cure"])))
        lines.append("Check     {:<6}  {:<11}  {}".format(item["state"], item["name"], told))
    lines += ["Note      {}".format(text) for text in facts["warnings"]]
    if facts["refused"]:
        return "\n".join([*lines, "Refused   {}".format(facts["refused"])])
    for name, reason in facts["situations"].items():
        lines.append("Reaction  {:<17} {}".format(name, reason or "possible"))
    return "\n".join(lines)
