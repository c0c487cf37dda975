"""Fixtures that several tests of the core share."""

import pytest

from .figures import build
from .test_react import actor_of, clip_of


@pytest.fixture(scope="session")
def actor():
    """A human with a skin."""
    return actor_of(build(skin=True))


@pytest.fixture(scope="session")
def clip(actor):
    """Eight seconds of the human's walk."""
    return clip_of(actor.skeleton, seconds=8.0)
