"""What a file takes of our modules is there: types are checked of the core alone, and else a name that moved shows only
as it runs.  mypy knows, where the add-on lies as Blender has it installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
INSTALLED = Path("bl_ext/user_default/parametric_dynamics")
BESIDE = "core", "bench", "tests", "tools", "__init__.py", "build.py"
ELSEWHERE = "parametric_dynamics", "rigify_generate", "locking", "LK_NBLCK"  # operators, and what Windows alone has
FAULTS = """
from . import job
from .job import moved, timed  # the second is a variable of one of its functions
from ..core import gone
from {}.core import rotation
def f(job): job.own
job.nothing()
rotation.nothing
"""


@pytest.fixture(scope="module")
def missing(tmp_path_factory):
    """What mypy misses of modules, a line each: in our files, and in one in which FAULTS stand."""
    folder = tmp_path_factory.mktemp("installed")
    package = folder / INSTALLED
    package.mkdir(parents=True)
    for name in BESIDE:
        (package / name).symlink_to(REPO / name)
    (package / "blender_addon").mkdir()
    for path in (REPO / "blender_addon").iterdir():
        (package / "blender_addon" / path.name).symlink_to(path)
    faulty = package / "blender_addon" / "faulty.py"
    faulty.write_text(FAULTS.format(".".join(INSTALLED.parts)), encoding="utf-8")
    for parent in INSTALLED.parents[:-1]:
        (folder / parent / "__init__.py").touch()
    options = ["--config-file", os.devnull, "--cache-dir", str(folder)]
    options += ["--ignore-missing-imports", "--check-untyped-defs"]
    told = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "-p", ".".join(INSTALLED.parts)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "source files)" in told.stdout, told.stdout[-2000:] + told.stderr
    lines = [line for line in told.stdout.splitlines() if "error: Module " in line]
    return [line for line in lines if "faulty.py" not in line], [line for line in lines if "faulty.py" in line]


def test_what_is_taken_of_our_modules_is_there(missing):
    assert [line for line in missing[0] if line.split('"')[-2] not in ELSEWHERE] == []


def test_the_guard(missing):
    assert [line.split('"')[-2] for line in missing[1]] == ["moved", "timed", "gone", "nothing", "nothing"]
