"""build.py's own promises that need no Blender."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tools import environments, extension, host, testing

REPO = Path(__file__).resolve().parent.parent


def files():
    return [REPO / "build.py", *sorted((REPO / "tools").glob("*.py"))]


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_starts_on_an_old_python_with_nothing_installed(path):
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    tops = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            tops |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            tops.add(node.module.split(".")[0])
    inside_blender = {"bpy"} if path.name == "installed.py" else set()
    assert tops <= set(sys.stdlib_module_names) | {"tools"} | inside_blender


@pytest.mark.parametrize("name", environments.PYTHONS)
def test_every_pin_is_exact(name):
    lines = [line for line in environments.pins(name) if line.strip()]
    assert lines
    assert all(line.split(";")[0].count("==") == 1 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "paths", "options", "is_partial"),
    [
        ([], [], [], False),
        (["-x", "-q"], [], ["-x", "-q"], False),
        (["-k", "core"], [], ["-k", "core"], True),
        (["tests/core", "-x"], ["tests/core"], ["-x"], True),
        (["tests/test_build.py::test_a"], ["tests/test_build.py::test_a"], [], True),
    ],
)
def test_selection_of_tests(arguments, paths, options, is_partial):
    selection = testing.Selection(arguments)
    assert (selection.paths, selection.options, selection.is_partial) == (paths, options, is_partial)


def test_what_needs_one_blender_runs_in_one_wheel_and_wherever_it_is_selected():
    """pytest by itself, and a Blender of the user's own, run all there is."""
    everything, chosen = testing.Selection(["-x"]), testing.Selection(["tests/blender/test_fineness.py"])
    names = ["bpy-4.2", "bpy-4.5", "bpy-5.2", "blender"]
    assert [name for name in names if not testing._deselected(name, everything)] == [testing.ONE_BLENDER]
    assert not any(testing._deselected(name, chosen) for name in names)


def test_a_selection_reaches_only_its_stages():
    selection = testing.Selection(["tests/core"])
    assert selection.within(["tests/core", "tests/test_build.py"]) == ["tests/core"]
    assert selection.within(["tests/blender"]) == []
    assert testing.Selection(["tests"]).within(["tests/blender"]) == ["tests/blender"]


def test_the_archive_has_what_belongs_in_it_and_nothing_else(tmp_path):
    extension._stage(tmp_path / "source")
    names = {path.name for path in (tmp_path / "source").iterdir()}
    assert names <= set(extension.CONTENT)
    assert {"core", "blender_addon", "__init__.py", "blender_manifest.toml", "LICENSE"} <= names
    assert not list((tmp_path / "source").rglob("__pycache__"))


def test_a_failed_step_shows_what_it_said():
    with pytest.raises(host.BuildError, match=r"(?s)making a thing failed.*the reason"):
        host.check_run([sys.executable, "-c", "print('the reason'); raise SystemExit(3)"], "making a thing")


def test_a_stage_without_a_report_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "TESTS_OUT", tmp_path)
    assert testing._read_report("absent", 4).failed == 1


def test_a_stage_without_tests_fails_unless_tests_were_selected(capsys):
    empty = [("core", testing.Result(note=testing.NO_TESTS)), ("other", testing.Result(passed=1))]
    assert testing._summarise(empty, testing.Selection(["-k", "x"]), 1.0) == 0
    assert testing._summarise(empty, testing.Selection([]), 1.0) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"


def test_a_wrong_blender_is_refused_in_one_sentence():
    command = [sys.executable, "build.py", "package", "--blender", "/no/such/blender"]
    result = subprocess.run(command, cwd=REPO, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == "build.py: There is no Blender at /no/such/blender: give the path of its executable.\n"
