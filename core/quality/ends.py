"""Whether a motion leaves its clip and finds back to it."""

import numpy as np

from .finding import Finding, at_most
from .joints import deviation
from .motion import Motion


def continuity(motion: Motion, clip: Motion) -> Finding:
    """[deg] how far a joint is from the clip at the first and at the last moment."""
    turn = np.degrees(np.linalg.norm(deviation(motion, clip), axis=-1))
    both = turn[[0, -1]]
    found = at_most("continuity", both, "deg", motion)
    late = both[1].max() >= both[0].max()
    return Finding("continuity", found.value, "deg", found.bone, float(motion.times[-1 if late else 0]))
