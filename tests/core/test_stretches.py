"""How `react` chooses its sub-steps: fine around blows, long in calm ends, none where nothing is to be seen."""

from types import SimpleNamespace

import numpy as np
import pytest

from core import drive as module
from core import pace
from core import react as module_react
from core.pose import Envelope
from core.progress import run
from core.react import Hit, react
from core.rotation import angle
from core.situation import named

from .figures import build
from .test_react import actor_of, clip_of

LONG = Envelope(0.0, 2.0, 1.5)


@pytest.fixture(scope="module")
def figure():
    skeleton = build(skin=True)
    return actor_of(skeleton), clip_of(skeleton, seconds=22.0)


def struck(figure, name, envelope, **changes):
    return run(react(*figure, named(name).with_changes(envelope=envelope, **changes), Hit(25.0)))


@pytest.mark.parametrize(
    ("name", "planted"),
    [(name, True) for name in ("shoulder_front", "chest_front", "leg_front")] + [("shoulder_front", False)],
)
def test_long_steps_at_the_end_show_what_fine_ones_do(figure, monkeypatch, name, planted):
    """Against 1/480 s all the way: peaks within 3 %, and no joint ever off by more than that of the largest peak, or
    by 0.4 degrees where all turn less.

    One and a half times that in legs: the plan that leads their feet has samples of 1/60 s, and closes them afterwards.
    """
    changes = {"envelope": LONG} if planted else {"envelope": LONG, "support": ()}
    quick = struck(figure, name, **changes)
    assert (quick.footing is not None) == planted
    with monkeypatch.context() as patch:
        patch.setattr(module, "SUBSTEP", 1 / 480)
        for tail in ("TAIL", "LOOSE"):
            patch.setattr(pace, tail, (np.inf,))
        fine = struck(figure, name, **changes)
    assert quick.substeps < 0.2 * fine.substeps
    most = max(fine.peaks().values())
    leg = np.array([role.startswith(("thigh", "shin", "foot", "toe")) for role in fine.actor.roles])
    part = np.where(leg, 1.5, 1.0)
    allowed = dict(zip(fine.actor.names, part, strict=True))
    assert max(abs(quick.peaks()[n] - fine.peaks()[n]) / allowed[n] for n in fine.peaks()) < 0.03 * most
    times = np.arange(fine.start, fine.end, 1 / 60)
    off = np.degrees(np.linalg.norm(quick.deviation(times)[0] - fine.deviation(times)[0], axis=-1)) / part
    assert off.max() < max(0.03 * most, 0.4)
    assert off[times > fine.start + 1.0].max() < 0.02 * most  # the body still steps


def test_steps_get_shorter_at_the_blow_and_longer_afterwards(figure):
    reaction = struck(figure, "shoulder_front", LONG)
    h = np.diff(reaction.times)
    since = reaction.times[:-1] - reaction.start
    assert h[since < 0.05].max() < 1 / 200
    assert h[since < 0.5].max() == pytest.approx(1 / 120, abs=1e-6)
    late = h[since > 2.0]
    loose = struck(figure, "shoulder_front", LONG, support=())
    soon = np.diff(loose.times)[(loose.times[:-1] > loose.start + 0.5) & (loose.times[:-1] < loose.start + 0.7)]
    assert soon == pytest.approx(1 / 60, abs=1e-6)  # no foot stands
    assert h[(since > 0.5) & (since < 0.7)] == pytest.approx(1 / 120, abs=1e-6)
    assert late[: -pace.RESTING] == pytest.approx(1 / 30, abs=1e-6) and 0.9 / 30 < late.min() < late.max() < 1.001 / 30


def test_a_few_sub_steps_do_not_say_that_a_body_rests(figure, monkeypatch):
    """Nobody is asked about those that are finer for a while."""
    all_, asked = [], []

    def asking(stage, end, rule, solver, done, *more):
        return module.drive(stage, end, rule, solver, lambda last, _: asked.append(len(last.runs)), *more)

    monkeypatch.setattr("core.react.drive", asking)
    hit = named("chest_front").with_changes(envelope=LONG), Hit(25.0, impulse=200.0)
    run(react(*figure, *hit, watch=lambda stage, part, solver: all_.append(len(part.runs))))
    assert min(all_) <= pace.SPELL + 1 < pace.RECENT < min(asked)
    assert asked == [count for count in all_ if count > pace.RECENT]


def test_stretches_end_where_steps_may_be_longer_and_where_all_ends():
    """A contact of 0.25 s has 60 sub-steps of 1/240 s, in two stretches; 0.3 s before they may be longer it goes on at
    1/120 s until there, in one.  Where longer ones couldn't begin yet, as they go by multiples of their length after
    the blow, it goes on until they can.  Those that are finer than they have to be are a few, and as many are planned
    at least.  The pose that is held in the end is that of its moment, not of one some way into the next sub-step."""
    blow = SimpleNamespace(start=1.0, contact=0.25)
    rule, h = pace.Pace.returning([blow], 0), 1 / 240
    assert rule.stretch(1.0, h, 9.0, False) == rule.stretch(1.0 + 30 * h, h, 9.0, False) == (30, h)
    assert rule.stretch(0.95 + pace.TAIL[0], 2 * h, 9.0, False) == (36, 2 * h)
    assert rule.stretch(1.15 + pace.TAIL[0], 2 * h, 9.0, False) == (pace.RESTING, 2 * h)
    late = pace.Pace.returning([SimpleNamespace(start=1.0, contact=0.253)], 0)
    assert late.stretch(1.0 + 31 * h, h, 9.0, False) == (31, h)  # to 1 + 31 / 120 s
    assert late.stretch(0.95 + pace.TAIL[0], 2 * h, 9.0, False) == (38, 2 * h)  # to 1 + 64 / 60 s
    assert rule.stretch(1.25, h, 9.0, True) == (pace.RESTING, h)
    steps, length = rule.stretch(8.91, 1 / 30, 9.0, False)
    assert steps == 3 and length == pytest.approx(0.03)


@pytest.mark.parametrize("contact,halvings", [(0.03, 2), (0.05, 2), (0.12, 1), (0.5, 0)])
def test_a_contact_has_sub_steps_enough(contact, halvings):
    blow = SimpleNamespace(start=1.0, contact=contact)
    rule, end = pace.Pace.returning([blow], 0), 1.0 + contact
    assert [rule.least(now) for now in (1.0, end, end + 1.1, end + 1.6)] == [halvings, 0, -1, -2]
    assert [pace.Pace.returning([blow], 0, False).least(end + since) for since in (0.2, 0.4, 1.3)] == [0, -1, -2]
    assert [pace.Pace.returning([blow], 3).least(now) for now in (1.0, end + 1.1)] == [3, 2]  # of swift muscles


def test_the_shorter_of_two_contacts_says_how_fine():
    """A punch of 15 ms while a shove goes on, and another that ends with it."""
    shove, punch = SimpleNamespace(start=1.0, contact=0.25), SimpleNamespace(start=1.1, contact=0.015)
    alone = pace.Pace.returning([punch], 0).least(1.1)
    assert alone == 2
    for start in (1.1, 1.25 - 0.015):
        punch = SimpleNamespace(start=start, contact=0.015)
        for blows in ([shove, punch], [punch, shove]):
            assert pace.Pace.returning(blows, 0).least(start) == alone


def test_what_would_not_be_seen_is_not_simulated(figure):
    """The rest that is held and faded by the envelope: below 0.05 degrees and 0.1 mm, and it moves as little."""
    reaction = struck(figure, "shoulder_front", Envelope(0.0, 10.0, 5.0))
    asleep = float(reaction.times[-1])
    assert 1.5 < asleep - reaction.start < 8.0 < reaction.end - reaction.start
    times = np.arange(reaction.start, reaction.end + 0.1, 1 / 120)
    turn, travel = reaction.deviation(times)
    rest = times > asleep - 0.5
    assert np.degrees(np.linalg.norm(turn[rest], axis=-1)).max() < 0.05
    assert np.linalg.norm(travel[rest], axis=-1).max() < 1e-4
    assert np.degrees(np.linalg.norm(np.diff(turn[rest], axis=0), axis=-1)).max() < 0.01
    assert not turn[times > reaction.end].any()


def test_a_later_blow_wakes_the_body(figure):
    first, second = Hit(25.0), Hit(25.0 + 9.0 * 24.0)
    situation = named("shoulder_front").with_changes(envelope=Envelope(0.0, 10.0, 5.0))
    reaction = run(react(*figure, situation, first, further=[(situation, second)]))
    later = reaction.times > reaction.start + 9.0
    alone = run(react(*figure, situation, second))
    peak = np.degrees(np.linalg.norm(reaction.turn[later], axis=-1)).max()
    assert peak == pytest.approx(np.degrees(np.linalg.norm(alone.turn, axis=-1)).max(), rel=0.02)


@pytest.mark.parametrize("coupled", [True, False], ids=["full", "light"])
@pytest.mark.parametrize(("frequency", "fps"), [(0.3, 24.0), (0.3, 30.0), (0.3, 60.0), (3.0, 30.0)])
def test_without_a_blow_the_clip_is_repeated_for_ten_seconds(actor, monkeypatch, coupled, fps, frequency):
    """Within 1e-9 degrees, though on muscles of 0.3 Hz a walk makes far more than that of round-off, each second three
    times as much and in light-weight mode thirty."""
    monkeypatch.setattr(module_react, "ASLEEP", (0.0, 0.0))
    clip = clip_of(actor.skeleton, fps=fps, seconds=13.0)
    situation = named("shoulder_front").with_changes(
        frequency=frequency, base_frequency=frequency, coupled=coupled, envelope=Envelope(0.0, 9.5, 1.0)
    )
    reaction = run(react(actor, clip, situation, Hit(25.0, impulse=0.0)))
    assert reaction.times[-1] - reaction.start > 10.0
    assert max(reaction.peaks().values()) < 1e-9
    shown, own = reaction.poses(clip)[0], actor.canonical(clip)[0]
    assert np.degrees(angle(shown, own)).max() < 1e-9


def test_planted_legs_stand_still_in_the_light_weight_simulator(figure, monkeypatch):
    """All joints of a leg answer its foot's spring, which none of them feels through another: together they must
    neither overshoot and shake nor stand in each other's way, and the leg comes back to its clip."""
    monkeypatch.setattr(module_react, "ASLEEP", (0.0, 0.0))
    light, whole = (
        struck(figure, "shoulder_front", Envelope(0.0, 5.0, 1.0), coupled=coupled) for coupled in (False, True)
    )
    assert light.substeps < 1.2 * whole.substeps  # where legs shook it took three times as many
    legs = [i for i, role in enumerate(light.actor.roles) if role.startswith(("thigh", "shin", "foot"))]
    speed = np.linalg.norm(np.diff(light.turn[:, legs], axis=0), axis=-1) / np.diff(light.times)[:, None]
    assert speed[light.times[1:] > light.start + 0.9].max() < 1.5
    turned = np.degrees(np.linalg.norm(light.turn[:, legs], axis=-1)).max(axis=-1)
    assert turned.max() > 3.0 and turned[light.times > light.start + 4.0].max() < 0.1
