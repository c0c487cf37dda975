"""The parameter set is the one that docs/calibration.md tells, and the descent that chose it descends."""

import ast
import re
from pathlib import Path

import pytest

pytest.importorskip("mujoco")
from tools.quality import calibrate  # noqa: E402  it imports MuJoCo

PAGE = Path(__file__).resolve().parents[2] / "docs" / "calibration.md"


def bowl(values):
    """Answers whose cost is least at ratio 0.6 and HASTE 1.2; the other parameters don't matter."""
    cost = abs(values["ratio"] - 0.6) + abs(values["HASTE"] - 1.2)
    return [calibrate.Answer("good", cost, calibrate.PLAIN, calibrate.TURN)]


def test_descent_finds_the_valley_and_leaves_the_rest():
    start = calibrate.present() | {"ratio": 0.85, "HASTE": 0.6}
    *_, (best, found) = calibrate.descend(start, bowl, 200)
    assert best == {**start, "ratio": 0.6, "HASTE": 1.2}
    assert calibrate.total(found) == pytest.approx(0.0)


def test_descent_keeps_its_budget():
    asked = []
    list(calibrate.descend(calibrate.present(), lambda values: asked.append(values) or bowl(values), 7))
    assert len(asked) == 7


def test_what_shows_too_little_costs():
    seen, faint = (calibrate.Answer("good", 0.0, way, 30.0) for way in (12.0, 4.0))
    assert seen.cost == 0.0 and faint.cost == pytest.approx(0.6)


def test_the_code_has_the_set_that_was_chosen():
    rows = re.findall(r"^\| (\w+) \| [\d.]+ \| ([\d.]+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert {key: float(value) for key, value in rows} == calibrate.present()


def test_what_is_tried_is_used():
    """A module of the core that had a copy of a constant would go on with the value it had when it was read."""
    core = Path(calibrate.weight.__file__).parent
    for path in core.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
            assert not set(names) & set(calibrate.CONSTANTS), path.name
