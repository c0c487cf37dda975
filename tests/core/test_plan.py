"""The plan of weight and feet: how far it is played."""

import numpy as np
import pytest

from core.walker import Walker

from .figures import build
from .test_balance import planned
from .test_react import clip_of


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def test_a_plan_ends_where_nobody_sees_what_is_left(skeleton, monkeypatch):
    """What 0.1 mm become isn't played: it fades at the pendulum's pace, and is gone by the end like all else."""
    clip, played = clip_of(skeleton, seconds=8.0), []
    advance = Walker.advance

    def counted(walker, k):
        played.append(k)
        advance(walker, k)

    monkeypatch.setattr(Walker, "advance", counted)
    found, quick = planned(skeleton, clip, 40.0, (0.0, 1.0), end=6.0)
    over, away = played[-1] + 1, np.abs(quick.shift).max(axis=1)
    assert found.times[over] < found.times[played[0]] + 4.5 and 1e-6 < away[over] < 1e-4
    monkeypatch.setattr(Walker, "is_over", lambda *_: False)
    _, whole = planned(skeleton, clip, 40.0, (0.0, 1.0), end=6.0)
    assert np.abs(quick.shift - whole.shift).max() < 1e-4 and np.abs(quick.feet - whole.feet).max() < 2e-4
    assert not quick.shift[-1].any() and not quick.feet[-1].any()
