"""The quality metric: de Heras Ciechomski's Gestalt Metric (2001, ch. 5) as numbers.

    verdict = judge(actor, motion)               a motion by itself
    verdict = judge(actor, motion, clip)         what was done to a clip
    verdict = judge(actor, motion, clip, blow)   the clip's answer to a known hit
Everything is measured at canonical size and over seconds, and beyond what the clip itself does.  `thresholds` is
generated from clips that artists made (`tools/quality`, docs/quality.md) and is not edited by hand.
"""

from .blow import Blow
from .finding import Finding
from .rule import grade
from .verdict import Verdict, judge

__all__ = ["Blow", "Finding", "Verdict", "grade", "judge"]
