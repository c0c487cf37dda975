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
    if item.type != "MESH":
        return False
    chain = [item, *rig.above(item)]
    hangs = armature in chain
    carriers = chain[: chain.index(armature)] if hangs else [*chain, armature, *rig.above(armature)]
    if not (hangs and carriers[-1].parent_type == "BONE" or rig.is_skinned(item, armature)):
        return False
    return any(sampling.moves(carrier.animation_data) or len(carrier.constraints) > 0 for carrier in carriers)
