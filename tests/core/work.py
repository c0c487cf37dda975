"""How much a computation does, told without a clock: machines are shared and noisy."""

import sys
from collections.abc import Callable
from typing import Any


def calls(function: Callable[[], Any]) -> int:
    """Calls of functions, Python's and C's, that it makes: what numpy on small arrays costs, alike on every machine."""
    counted = 0

    def count(frame: Any, event: str, of: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return counted
