"""The rule of the grade.  An excess is a value as part of its limit; 1 is the limit, `BAD` of a check its own line."""

from collections.abc import Iterable

from .finding import Finding
from .lines import LIMITS


def grade(findings: Iterable[Finding], mode: str) -> str:
    """Bad as soon as one check is bad; less good if one is beyond its limit; good else."""
    findings = list(findings)
    if any(excess(f, mode, bad=True) > 1.0 for f in findings):
        return "bad"
    if any(excess(f, mode) > 1.0 for f in findings):
        return "less good"
    return "good"


def excess(finding: Finding, mode: str, bad: bool = False) -> float:
    """The value against the check's limit, or against the line from which it is bad."""
    line = LIMITS[stage(mode)][finding.name][bad]
    if finding.least:
        return 1.0 + (line - finding.value) / max(abs(line), 1e-3)
    return finding.value / line


def stage(mode: str) -> str:
    """Which set of limits a mode uses."""
    return "alone" if mode == "alone" else "beyond"
