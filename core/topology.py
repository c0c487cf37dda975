"""Bone roles from shape alone, for skeletons whose names say nothing."""

from .roles import Hint
from .skeleton import Skeleton


def hints(skeleton: Skeleton) -> list[Hint] | None:
    """A hint for every bone, or None where no limbs are found."""
    return None
