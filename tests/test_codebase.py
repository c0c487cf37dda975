"""House rules that a reader shouldn't have to check: names, tooltips, honest exceptions, sizes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
MAX_FILE = 320
MAX_FUNCTION = 50  # the targets are 300 and 40: these leave room for the last docstring, not for another duty
PROPERTIES = {
    "BoolProperty", "BoolVectorProperty", "CollectionProperty", "EnumProperty", "FloatProperty", "FloatVectorProperty",
    "IntProperty", "IntVectorProperty", "PointerProperty", "StringProperty",
}  # fmt: skip
MAX_TEST_FILE = 450
WITHOUT_TOOLTIP = {"CollectionProperty", "PointerProperty"}  # containers; Blender never shows one for them
INFIX = {"Operator": "OT", "Panel": "PT", "Menu": "MT", "UIList": "UL", "Header": "HT", "FileHandler": "FH"}
SOURCES = ("core", "blender_addon")


def class_faults(source: str) -> list[str]:
    """Registered classes: DYNAMICS_OT_lower, parametric_dynamics.lower, a description on each operator."""
    faults = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef):
            continue
        kind = next((base for base in map(_name, node.bases) if base in INFIX), None)
        assigned = _assigned(node)
        if kind:
            faults += _naming_faults(node, kind, assigned)
        elif "bl_idname" in assigned or "bl_label" in assigned:
            faults.append(f"{node.name}: name its Blender base class, so that these rules can see it")
    return faults


def _naming_faults(node: ast.ClassDef, kind: str, assigned: dict[str, str]) -> Iterator[str]:
    infix = INFIX[kind]
    if not re.fullmatch(rf"DYNAMICS_{infix}_[a-z0-9_]+", node.name):
        yield f"{node.name}: a {kind} is named DYNAMICS_{infix}_lower_case"
    if kind != "Operator":
        return
    if not re.fullmatch(r"parametric_dynamics\.[a-z0-9_]+", assigned.get("bl_idname", "")):
        yield f"{node.name}: bl_idname is parametric_dynamics.lower_case"
    if not (ast.get_docstring(node) or assigned.get("bl_description") or _has_method(node, "description")):
        yield f"{node.name}: no docstring and no bl_description, so no tooltip"
    if not assigned.get("bl_label"):
        yield f"{node.name}: no bl_label"


def _has_method(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(item, ast.FunctionDef) and item.name == name for item in node.body)


def _assigned(node: ast.ClassDef) -> dict[str, str]:
    found = {}
    for item in node.body:
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            value = item.value
            found[item.targets[0].id] = str(value.value) if isinstance(value, ast.Constant) else "<computed>"
    return found


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def property_faults(source: str) -> list[str]:
    """Every property says what it is: a name and a description, which are the label and the tooltip."""
    faults = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or _name(node.func) not in PROPERTIES - WITHOUT_TOOLTIP:
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if None in given:  # **shared: the guard can't see into it
            continue
        is_hidden = "'HIDDEN'" in ast.unparse(given["options"]) if "options" in given else False
        for key in () if is_hidden else ("name", "description"):
            value = given.get(key)
            if value is None or (isinstance(value, ast.Constant) and not value.value):
                faults.append(f"line {node.lineno}: {_name(node.func)} without {key}")
    return faults


def exception_faults(source: str) -> list[str]:
    faults = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        if node.type is None:
            faults.append(f"line {node.lineno}: bare except")
            continue
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        is_broad = any(_name(item) in ("Exception", "BaseException") for item in caught)
        if is_broad and not any(
            isinstance(item, (ast.Raise, ast.Call)) for part in node.body for item in ast.walk(part)
        ):
            faults.append(f"line {node.lineno}: swallows every exception")
    return faults


def size_faults(source: str, max_file: int = MAX_FILE, max_function: int = MAX_FUNCTION) -> list[str]:
    faults = []
    lines = len(source.splitlines())
    if lines > max_file:
        faults.append(f"{lines} lines, at most {max_file}: split it by duty")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > max_function:
                faults.append(f"line {node.lineno}: {node.name} has {length} lines, at most {max_function}")
    return faults


def annotation_faults(source: str) -> list[str]:
    """Blender reads a property from a real annotation: the future import turns it into text."""
    tree = ast.parse(source)
    futures = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    declares = any(
        isinstance(node, ast.AnnAssign)
        and isinstance(node.annotation, ast.Call)
        and _name(node.annotation.func) in PROPERTIES
        for node in ast.walk(tree)
    )
    return ["from __future__ import annotations breaks Blender's properties"] if futures and declares else []


RULES = (class_faults, property_faults, exception_faults, size_faults, annotation_faults)
OURS = sorted(path for folder in SOURCES for path in (REPO / folder).rglob("*.py"))
OTHERS = sorted(path for folder in ("tools", "tests", "bench") for path in (REPO / folder).rglob("*.py"))
OTHERS += [REPO / "__init__.py", REPO / "build.py"]


def name_of(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_house_rules(path):
    source = path.read_text(encoding="utf-8")
    assert [fault for rule in RULES for fault in rule(source)] == []


@pytest.mark.parametrize("path", OTHERS, ids=name_of)
def test_tests_and_tools_are_readable_too(path):
    source = path.read_text(encoding="utf-8")
    assert exception_faults(source) + size_faults(source, MAX_TEST_FILE) == []


GOOD_OPERATOR = '''
class DYNAMICS_OT_apply(Operator):
    """Bake a hit"""
    bl_idname = "parametric_dynamics.apply"
    bl_label = "Apply"
    strength: FloatProperty(name="Strength", description="Impulse of the hit", default=1.0)
'''


class TestTheRules:
    """Each rule must catch what it is there for, and let good code pass."""

    def test_good_code_passes(self):
        assert [fault for rule in RULES for fault in rule(GOOD_OPERATOR)] == []

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("DYNAMICS_OT_apply", "ApplyOperator"),
            ("DYNAMICS_OT_apply", "DYNAMICS_PT_apply"),
            ("DYNAMICS_OT_apply", "DYNAMICS_OT_Apply"),
            ("parametric_dynamics.apply", "object.apply"),
            ('    """Bake a hit"""\n', ""),
            ('    bl_label = "Apply"\n', ""),
            ("Operator", "Base"),
        ],
    )
    def test_class_rule(self, old, new):
        assert class_faults(GOOD_OPERATOR.replace(old, new))

    def test_panel_names(self):
        assert class_faults("class DYNAMICS_PT_main(bpy.types.Panel):\n    bl_label = 'Main'") == []
        assert class_faults("class MainPanel(bpy.types.Panel):\n    bl_label = 'Main'")

    @pytest.mark.parametrize("old", ['name="Strength", ', 'description="Impulse of the hit", '])
    def test_property_rule(self, old):
        assert property_faults(GOOD_OPERATOR.replace(old, ""))
        assert property_faults('x = bpy.props.IntProperty(name="X", description="")')

    @pytest.mark.parametrize(
        "source",
        [
            "try:\n    f()\nexcept:\n    g()",
            "try:\n    f()\nexcept Exception:\n    pass",
            "try:\n    f()\nexcept (ValueError, Exception):\n    x = 1",
        ],
    )
    def test_exception_rule(self, source):
        assert exception_faults(source)

    def test_exception_rule_lets_pass(self):
        assert exception_faults("try:\n    f()\nexcept ValueError:\n    pass") == []
        assert exception_faults("try:\n    f()\nexcept Exception as e:\n    raise Error(str(e)) from e") == []

    def test_size_rule(self):
        assert size_faults("x = 1\n" * (MAX_FILE + 1))
        assert size_faults("def f():\n" + "    x = 1\n" * MAX_FUNCTION)
        assert size_faults("def f():\n" + "    x = 1\n" * (MAX_FUNCTION - 1)) == []

    def test_annotation_rule(self):
        assert annotation_faults("from __future__ import annotations\n" + GOOD_OPERATOR)


NAMED_TEST = re.compile(r"`(?:tests/\w+/)?(test_\w+\.py)::(?:\w+::)?(test_\w+)`")


def test_the_tests_that_documents_name_exist():
    """Documents name tests as `file.py::test`: a reader must find them."""
    sources: dict[str, str] = {}
    for path in (REPO / "tests").rglob("test_*.py"):
        sources[path.name] = sources.get(path.name, "") + path.read_text(encoding="utf-8")
    documents = [*REPO.glob("*.md"), *(REPO / "docs").glob("*.md")]
    named = [(d.name, *found) for d in documents for found in NAMED_TEST.findall(d.read_text(encoding="utf-8"))]
    assert len(named) > 30
    assert [entry for entry in named if f"def {entry[2]}(" not in sources.get(entry[1], "")] == []
