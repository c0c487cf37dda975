"""Fixtures that several tests of the core share."""

import pytest

from core.fall import fall
from core.progress import run
from core.situation import named

from .figures import build
from .test_react import HIT, actor_of, clip_of


@pytest.fixture(scope="session")
def actor():
    """A human with a skin."""
    return actor_of(build(skin=True))


@pytest.fixture(scope="session")
def clip(actor):
    """Eight seconds of the human's walk."""
    return clip_of(actor.skeleton, seconds=8.0)


@pytest.fixture(scope="session")
def knocked_out(actor, clip):
    """The human, knocked out by a blow on the head."""
    return run(fall(actor, clip, named("knock_out"), HIT))


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A folder to work in, for MuJoCo writes its warnings to a file where it runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("mujoco"))
        yield
