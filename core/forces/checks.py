"""What settings of forces may be: refused in one sentence where they are made."""

from typing import Any

import numpy as np


def within(what: str, low: float, high: float, **values: Any) -> None:
    """Refuse settings (...) that aren't finite numbers from low to high, by name."""
    for name, value in values.items():
        x = np.asarray(value, dtype=np.float64)
        if not (np.isfinite(x) & (x >= low) & (x <= high)).all():
            some = "finite numbers" if low == -np.inf else f"numbers from {low:g} on"
            wanted = some if high == np.inf else f"numbers from {low:g} to {high:g}"
            raise ValueError(f"{what}.{name}: expected {wanted}, got {x.tolist() if x.size < 10 else 'others'}")


def finite(what: str, **values: Any) -> None:
    """The same of settings that may be any finite numbers."""
    within(what, -np.inf, np.inf, **values)


def positive(what: str, **values: Any) -> None:
    """The same of those that are no less than 0."""
    within(what, 0.0, np.inf, **values)


def pointing(what: str, **values: Any) -> None:
    """Refuse directions (..., 3) without a length, by name."""
    for name, value in values.items():
        if not np.all(np.linalg.norm(value, axis=-1) > 0.0):
            raise ValueError(f"{what}: expected a {name} with a length, got one without")
