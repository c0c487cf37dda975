"""The lines of all checks: the frozen ones, and those of checks that were added after the freeze (docs/quality.md)."""

from . import thresholds, thresholds_added

# stage: check: limit, and the line from which it is bad
LIMITS = {stage: lines | thresholds_added.LIMITS[stage] for stage, lines in thresholds.LIMITS.items()}
