"""What a file takes of our modules is there: mypy sees the core alone, and else a name that moved shows as it runs."""

import ast
from functools import cache
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
INSTALLED = "bl_ext.user_default.parametric_dynamics"
FOLDERS = "blender_addon", "core", "bench", "tests", "tools"


def module_of(node: ast.ImportFrom, path: Path) -> str:
    """What a `from` names, as a dotted path from the repository's root."""
    named = (node.module or "").removeprefix(INSTALLED).lstrip(".")
    if not node.level:
        return named if (node.module or "").startswith((INSTALLED, *FOLDERS)) else "?"
    folder = path.relative_to(REPO).parts[: -node.level]
    return ".".join([*folder, *filter(None, [named])])


@cache
def file_of(module: str) -> Path | None:
    """The source of a module of ours."""
    stem = REPO.joinpath(*module.split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.exists()), None)


@cache
def defined(path: Path) -> set[str]:
    """The names that a module has once it is imported."""
    names, waiting = {"__name__", "__file__", "__doc__"}, [*ast.parse(path.read_text(encoding="utf-8")).body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)  # what is in it is its own
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        waiting += ast.iter_child_nodes(node)
    return names


def missing(source: str, path: Path) -> list[str]:
    """Names of our modules that aren't in them; path: where the source lies."""
    tree, modules, faults = ast.parse(source), {}, []
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            module = module_of(node, path)
            if found := file_of(f"{module}.{alias.name}".strip(".")):
                modules[alias.asname or alias.name] = found
            elif (package := file_of(module)) and alias.name not in defined(package):
                faults.append(f"line {node.lineno}: {module} has no {alias.name}")
    local = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    local |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found = None if node.value.id in local else modules.get(node.value.id)
            within = found and found.name == "__init__.py" and file_of(".".join(
                [*found.parent.relative_to(REPO).parts, node.attr]))  # fmt: skip
            if found and not within and node.attr not in defined(found):
                faults.append(f"line {node.lineno}: {node.value.id} has no {node.attr}")
    return faults


FILES = sorted([*REPO.glob("*.py"), *(path for folder in FOLDERS for path in (REPO / folder).rglob("*.py"))])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(REPO).as_posix())
def test_what_is_taken_of_our_modules_is_there(path):
    assert missing(path.read_text(encoding="utf-8"), path) == []


@pytest.mark.parametrize("source", (
    "from . import job\njob.no_such()",
    "from . import job as jobs\n\ndef f():\n    return jobs.no_such",
    "from .job import no_such",
    "from .job import timed",  # a variable of one of its functions
    "from ..core import no_such",
    f"from {INSTALLED}.core import rotation\nrotation.no_such",
))  # fmt: skip
def test_the_guard(source):
    assert len(missing(source, REPO / "blender_addon/quality.py")) == 1


def test_the_guard_lets_pass():
    source = "from . import job, memory\nfrom ..core.errors import CoreError\njob.read(memory)\ndef f(job):\n job.x"
    assert missing(source, REPO / "blender_addon/quality.py") == []
