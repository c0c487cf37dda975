"""What the generated pages share."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def commit():
    """The commit that is measured, in short."""
    words = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, cwd=ROOT).stdout.strip()
