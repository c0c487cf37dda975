"""A figure as it is at the hit, whatever frame is shown: what it holds may move by itself, as a drawn sword, and
constraints that own its bones may be keyed."""

from . import control_rig, rig, sampling, timing


def weighed(context, armature, roles, frame):
    """The `control_rig.Body` with its skin, its props and the owners of its bones as they are at a frame."""
    plain = not sampling.shortcut(context, armature)  # else every frame is shown anyway to read the clip
    if plain and not any(_goes_its_way(item, armature) for item in context.scene.objects):
        return control_rig.read(context, armature, roles)
    with sampling.kept_frame(context.scene, armature):
        timing.show(context.scene, frame)
        return control_rig.read(context, armature, roles)


def _goes_its_way(item, armature):
    """Whether a mesh that is weighed moves against the bones at rest: it, what carries it up to the armature, or, where
    it doesn't hang on that, either of the two."""
    carriers, on_bone = [item], False
    while carriers[-1] not in (None, armature):
        on_bone |= carriers[-1].parent == armature and carriers[-1].parent_type == "BONE"
        carriers.append(carriers[-1].parent)
    if item.type != "MESH" or not (on_bone or rig.is_skinned(item, armature)):
        return False
    if carriers.pop() is None:
        carriers += [armature, *_above(armature)]
    return any(sampling.moves(carrier.animation_data) or len(carrier.constraints) > 0 for carrier in carriers)


def _above(item):
    while item.parent is not None:
        item = item.parent
        yield item
