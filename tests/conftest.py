"""Fixtures for every kind of test; no bpy here."""

import os
from pathlib import Path

import numpy as np
import pytest

REPO = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("PARAMETRIC_DYNAMICS_DATA") or REPO.parent / "shared" / "data").resolve()


@pytest.fixture(scope="session")
def repo() -> Path:
    return REPO


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real rigs, clips and reference numbers."""
    if not DATA.is_dir():
        pytest.skip(f"no test data at {DATA} (set PARAMETRIC_DYNAMICS_DATA)")
    return DATA


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded: the same numbers in every run and on every machine."""
    return np.random.default_rng(20240117)
