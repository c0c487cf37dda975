"""Layers point one way: core knows numpy only, the Blender side reaches it by relative imports, no cycles.

Everything is read from the syntax tree, so an import inside a function counts as well.
"""

import ast
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
HOST_MODULES = {"bpy", "bpy_extras", "bpy_types", "mathutils", "bmesh", "gpu", "blf", "aud", "imbuf", "bl_ext"}
CORE_MAY_IMPORT = set(sys.stdlib_module_names) | {"numpy"}
BLENDER_MAY_IMPORT = CORE_MAY_IMPORT | HOST_MODULES | {"addon_utils", "bl_ui", "nodeitems_utils", "rna_prop_ui"}


@dataclass(frozen=True)
class Import:
    level: int  # leading dots
    module: str
    names: tuple[str, ...]
    line: int

    @property
    def top(self) -> str:
        return self.module.split(".")[0]


def imports_of(source: str) -> list[Import]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [Import(0, alias.name, (), node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append(Import(node.level, node.module or "", names, node.lineno))
        elif isinstance(node, ast.Call) and _is_dynamic_import(node.func):
            found.append(Import(0, _dynamic_name(node), (), node.lineno))
    return found


def _is_dynamic_import(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("__import__", "import_module")


def _dynamic_name(call: ast.Call) -> str:
    first = call.args[0] if call.args else None
    return str(first.value) if isinstance(first, ast.Constant) else "<computed>"


def module_imports_of(source: str) -> list[Import]:
    """Only those that run when the module is imported."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [ast.Pass()]
    return imports_of(ast.unparse(tree))


def core_faults(source: str, depth: int = 1) -> list[str]:
    """What a file of core must not import; `depth` is the number of dots that reach core itself."""
    faults = []
    for item in imports_of(source):
        if item.level > depth:
            faults.append(f"line {item.line}: a relative import that leaves core")
        elif item.level == 0 and item.top not in CORE_MAY_IMPORT:
            faults.append(f"line {item.line}: imports {item.module}; core may use numpy and the standard library")
    return faults


def blender_faults(source: str) -> list[str]:
    faults = []
    for item in imports_of(source):
        if item.level == 0 and item.top not in BLENDER_MAY_IMPORT:
            faults.append(f"line {item.line}: imports {item.module}; ours are imported relatively, others not at all")
    if "sys.path" in ast.unparse(ast.parse(source)):
        faults.append("changes or reads sys.path, which an extension must not")
    return faults


def blender_test_faults(source: str) -> list[str]:
    ours = {"core", "blender_addon", "parametric_dynamics"}
    return [
        f"line {item.line}: imports {item.module}; use bl_ext.user_default.parametric_dynamics.{item.module}"
        for item in imports_of(source)
        if item.level == 0 and item.top in ours
    ]


def graph(files: dict[str, str]) -> dict[str, set[str]]:
    """Which modules of one package import which, from {dotted name in the package: source}; "" is its __init__."""
    edges: dict[str, set[str]] = {}
    for name, source in files.items():
        edges[name] = set()
        is_package = name == "" or any(other.startswith(name + ".") for other in files)
        for item in imports_of(source):
            if item.level:
                edges[name] |= _targets(name, is_package, item, files)
    return edges


def _targets(name: str, is_package: bool, item: Import, files: dict[str, str]) -> set[str]:
    package = name.split(".") if name else []
    up = item.level - 1 if is_package else item.level
    if up > len(package):
        return set()
    base = package[: len(package) - up] + (item.module.split(".") if item.module else [])
    targets = {".".join([*base, imported]) for imported in item.names}
    found = {target for target in targets if target in files}
    whole = ".".join(base)
    if whole in files and len(found) < len(targets):
        found.add(whole)
    return found - {name}


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """One import cycle, or []."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for target in sorted(edges.get(name, ())):
            found = visit(target, [*path, name])
            if found:
                return found
        done.add(name)
        return []

    for name in sorted(edges):
        found = visit(name, [])
        if found:
            return found
    return []


def package_files(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def files_in(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (REPO / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


@pytest.mark.parametrize("path", files_in("core"), ids=name_of)
def test_core_imports_only_numpy_and_itself(path):
    depth = len(path.relative_to(REPO / "core").parts)
    assert core_faults(path.read_text(encoding="utf-8"), depth) == []


@pytest.mark.parametrize("path", files_in("blender_addon"), ids=name_of)
def test_blender_side_imports_ours_relatively(path):
    assert blender_faults(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", files_in("tests/blender"), ids=name_of)
def test_blender_tests_use_the_installed_core(path):
    assert blender_test_faults(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("package", ["core", "blender_addon"])
def test_no_import_cycles(package):
    files = package_files(REPO / package)
    assert files
    assert cycle(graph(files)) == []


def test_root_imports_nothing_until_registered():
    source = (REPO / "__init__.py").read_text(encoding="utf-8")
    assert module_imports_of(source) == []
    assert imports_of(source)


class TestTheGuards:
    """Each guard must catch what it is there for."""

    @pytest.mark.parametrize(
        "source",
        [
            "import bpy",
            "def f():\n    import bpy",
            "from mathutils import Vector",
            "import scipy.linalg",
            "from ..blender_addon import rig",
            "from core import rotation",
            "def f():\n    return __import__('bpy')",
            "import importlib\nimportlib.import_module('bpy')",
        ],
    )
    def test_core_guard(self, source):
        assert core_faults(source)

    def test_core_guard_lets_pass(self):
        assert core_faults("import math\nimport numpy as np\nfrom . import rotation\nfrom .model import tree") == []
        assert core_faults("from .. import rotation", depth=2) == []

    @pytest.mark.parametrize(
        "source", ["import core", "from core import x", "import scipy", "import sys\nsys.path.append('')"]
    )
    def test_blender_guard(self, source):
        assert blender_faults(source)

    def test_blender_guard_lets_pass(self):
        assert (
            blender_faults("import bpy\nfrom ..core import x\nfrom . import rig\nfrom bpy.props import IntProperty")
            == []
        )

    def test_blender_test_guard(self):
        assert blender_test_faults("def f():\n    from core import rotation")
        assert blender_test_faults("from bl_ext.user_default.parametric_dynamics import core") == []

    def test_cycle_guard(self):
        assert cycle(
            graph({"": "", "a": "from . import b", "b": "def f():\n    from .c import x", "c": "from .a import y"})
        )
        assert cycle(graph({"": "from .a import x", "a": "", "b": "from . import a"})) == []
        assert cycle(graph({"": "from .a import x", "a": "from . import CONSTANT"})) == ["", "a", ""]
        assert cycle(graph({"": "", "p": "from .a import x", "p.a": "from ..b import y", "b": "from .p import z"}))

    def test_lazy_imports_are_not_module_imports(self):
        assert module_imports_of("def register():\n    from . import x") == []
        assert module_imports_of("if True:\n    import bpy")
