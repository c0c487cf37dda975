"""A reaction is the same at any sub-step: as `react` runs against 1/960 s all the way, on several figures and clips."""

from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from core import drive, reference
from core.errors import SimulationError
from core.model import State
from core.pace import SPELL, Pace
from core.progress import run
from core.react import Hit, react
from core.simulate import Run, simulate
from core.situation import named
from core.stage import SUBSTEP
from tools.quality.fineness import solved
from tools.quality.substeps import off

from .chains import still
from .figures import DOG, HUMAN, build
from .test_forces import one_body
from .test_react import actor_of, clip_of, standing
from .trees import motion, tree

FINE = 960.0  # [1/s]
MOST = 5.0  # percent of the largest peak: what is asked of peaks, here of any joint at any moment
PRESETS = ("chest_front", "shoulder_front", "leg_front")


def walking(skeleton):
    return clip_of(skeleton, fps=60.0)


def hurried(skeleton):
    """2.3 strides a second: arms swing into their ranges."""
    return replace(clip_of(skeleton, fps=60.0, seconds=8.0), fps=2.3 * 60.0)


CASES = [(HUMAN, walking, preset) for preset in PRESETS]
CASES += [(DOG, standing, preset) for preset in PRESETS] + [(HUMAN, hurried, "shoulder_front")]
NAMES = [f"{'human' if joints is HUMAN else 'dog'} {clip.__name__} {preset}" for joints, clip, preset in CASES]


@pytest.mark.parametrize(("joints", "clip", "preset"), CASES, ids=NAMES)
def test_reactions_are_as_in_fine_steps(joints, clip, preset):
    skeleton = build(joints, skin=True)
    clip = clip(skeleton)
    body = actor_of(skeleton), clip, preset, Hit(clip.frames[0] + clip.fps)
    own = solved(*body)
    found = off(own, solved(*body, FINE))
    print(f"{own.substeps} sub-steps: {found}")
    assert found.way < MOST and found.peak < 0.5 * MOST


def bent(turn, **more):
    """After a step of 1/120 s in which a joint turned by so much more than in the one before [rad]."""
    return Run(more.pop("k", 1), None, bent=turn / SUBSTEP**2, **more)


def test_a_joint_that_turns_suddenly_gets_finer_steps():
    """A turn that differs by 0.03 rad from that of the step before is too much; in half the step it is a quarter.  Of
    0.8 rad it is less than a twenty-fifth, of 0.7 more."""
    pace = Pace.returning([], 0)
    sudden, calm = bent(0.03), bent(0.002)
    assert pace.repeats(sudden, SUBSTEP) and not pace.repeats(sudden, 0.5 * SUBSTEP)
    assert not pace.repeats(calm, SUBSTEP)
    assert not pace.repeats(bent(0.03, turned=0.8), SUBSTEP) and pace.repeats(bent(0.03, turned=0.7), SUBSTEP)
    later = 10.0  # where steps may be long
    assert pace.relaxed([sudden], SUBSTEP, 1, later) == 1
    assert pace.relaxed([calm], SUBSTEP, 1, later) == 0


def test_longer_sub_steps_begin_at_multiples_of_their_length_after_a_blow():
    """After an odd number of halves the next one is a half, too, however calm: where a later blow falls between long
    ones, it would be told by those before it."""
    blow = SimpleNamespace(start=9.5, contact=0.05)
    pace, calm = Pace.returning([blow, SimpleNamespace(start=20.0, contact=0.05)], 0), bent(0.002)
    assert pace.relaxed([calm], SUBSTEP, 1, 9.5 + 60.0 * SUBSTEP) == 0
    assert pace.relaxed([calm], SUBSTEP, 1, 9.5 + 60.5 * SUBSTEP) == 1


def gone_on(monkeypatch, runs, halvings=0):
    """(sub-steps that count, halvings for what follows) of a stretch of 24 that has these runs, and breaks down where
    they are fewer; halved so often."""

    def simulate(*_):
        yield from runs
        if runs[-1].k < 24:
            raise SimulationError("It broke down.")

    monkeypatch.setattr(drive, "simulate", simulate)
    stage = SimpleNamespace(start=0.0, model=None, actor=SimpleNamespace(gravity=None), forces=lambda reference: [])
    times = 10.0 + SUBSTEP * 0.5**halvings * np.arange(25)  # where steps may be of any length
    reference = SimpleNamespace(times=times, lengths=np.diff(times))
    kept, then = run(drive.go_on(stage, reference, bent(0.0, k=0), Pace.returning([], 0), None, halvings, 20.0))
    return len(kept) - 1, then


def test_what_went_well_counts_where_a_later_sub_step_is_too_long(monkeypatch):
    """The 20th of 24 is: it and the two before are done again, no more.  One that breaks down takes all with it."""
    well = [bent(0.0025, k=k) for k in range(1, 25)]
    sudden = [bent(0.03, k=k) for k in range(1, 25)]
    assert gone_on(monkeypatch, well) == (24, 0)
    assert gone_on(monkeypatch, [*well[:19], sudden[19]]) == (17, 1)
    assert gone_on(monkeypatch, sudden[:1]) == gone_on(monkeypatch, well[:20]) == (0, 1)


def test_finer_sub_steps_end_as_soon_as_they_are_calm(monkeypatch):
    """After eight calm ones; what turns suddenly in the 4th is one of those that tell until the 12th."""
    calm = [bent(0.002, k=k) for k in range(1, 25)]
    assert gone_on(monkeypatch, calm, 1) == (8, 0)
    assert gone_on(monkeypatch, [*calm[:3], bent(0.01, k=4), *calm[4:]], 1) == (13, 0)
    assert gone_on(monkeypatch, [bent(0.01, k=k) for k in range(1, 25)], 1) == (24, 1)


@pytest.fixture(scope="module")
def figure():
    skeleton = build(skin=True)
    return actor_of(skeleton), walking(skeleton)


def sub_steps(figure, most):
    """How many a reaction takes whose joints may turn by so much as suddenly [of the largest turn]."""
    actor, clip = figure
    with mock.patch("core.pace.BEND", most):
        return run(react(actor, clip, named("shoulder_front"), Hit(clip.frames[0] + clip.fps))).substeps


def test_no_reaction_takes_many_more_sub_steps_for_a_little_more(figure):
    """What is a little too sudden costs two spells of sub-steps and the one that leads to where longer ones may begin,
    not a stretch of them: there is no cliff.  Where they change every bound is a fortieth beyond the last, or several
    spells fall between two of them."""
    counts = [sub_steps(figure, most) for most in (*np.geomspace(0.01, 0.02, 29), 0.03, 0.04, 0.06)]
    assert counts[0] > 1.2 * counts[-1]
    assert np.abs(np.diff(counts)).max() <= 2 * SPELL + 1


def test_how_suddenly_joints_turn_is_told_off_the_clip(rng):
    """0.1 N m on 0.02 kg m^2 are 5 rad/s^2; a clip that is played as it is, however it turns, none."""

    class Torque:
        def add(self, load, step):
            load.add_joint(np.array([[0.1, 0.0, 0.0, 0.0, 0.0, 0.0]]))

    model, none = one_body(), np.zeros(3)
    start = State(np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros((1, 3)), np.zeros((1, 6)))
    runs = list(simulate(model, still(start, 0.01, 2), [Torque()], none))
    assert [run.bent for run in runs] == pytest.approx([5.0, 5.0])
    model = tree(rng, 4, kinds=("fixed",))
    times = np.arange(0.0, 1.0, 1 / 30)
    clip = reference.build(times, *motion(rng, model, times), 0.2, 20, 1 / 120)
    assert np.abs(clip.acceleration).max() > 1.0
    assert max(run.bent for run in simulate(model, clip, [], none)) < 1e-6


def test_whatever_is_off_is_told():
    """In steps that are too long throughout, the measure says so, and where."""
    skeleton = build(skin=True)
    clip = walking(skeleton)
    body = actor_of(skeleton), clip, "shoulder_front", Hit(clip.frames[0] + clip.fps)
    fine = solved(*body, 240.0)
    assert off(fine, fine).way == 0.0
    found = off(solved(*body, 24.0), fine)
    assert found.way > 20.0 and found.bone in fine.actor.names and 0.0 < found.since < fine.end - fine.start
    assert np.isfinite(found.peak) and found.peak > MOST
