"""Several hits at once, off-centre and angular hits, blasts, strikers; repeats tell less."""

import numpy as np
import pytest

from core import tuning
from core.blows import Hit, land, repetition, throttle
from core.dynamics import balance, kinematics
from core.progress import run
from core.react import react
from core.rotation import angle
from core.situation import named

from .figures import build
from .test_react import FACING_BACK, HIT, actor_of, clip_of, displacement, hit_on


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def both(skeleton, first, second, clip=None, situations=("shoulder_front", "chest_back")):
    """A reaction to two hits."""
    clip = clip or clip_of(skeleton, seconds=6.0)
    a, b = (named(name) for name in situations)
    return run(react(actor_of(skeleton), clip, a, first, further=[(b, second)]))


def test_a_hit_without_strength_changes_nothing_of_another(skeleton):
    """The second blow of nothing: the first is what it was until the second takes the muscles' tone."""
    clip = clip_of(skeleton, seconds=6.0)
    alone = hit_on(skeleton, clip=clip)
    pair = both(skeleton, HIT, Hit(25.0 + 24.0, impulse=0.0), clip)
    assert pair.struck == alone.struck and pair.start == alone.start
    early = clip.times < alone.start + 1.0
    q, _ = pair.poses(clip)
    q0, _ = alone.poses(clip)
    # inertias are means over the whole reaction, which is longer with a second hit
    assert np.degrees(angle(q, q0))[early].max() < 0.01 * max(alone.peaks().values())


def test_two_hits_add_up_and_the_later_is_what_it_is_alone_without_the_first(skeleton):
    clip = clip_of(skeleton, seconds=6.0)
    later = Hit(25.0 + 0.5 * 24.0)  # late enough not to be throttled
    pair = both(skeleton, HIT, later, clip)
    nothing = both(skeleton, Hit(25.0, impulse=0.0), later, clip)
    assert [blow.start for blow in pair.blows] == [25.0 / 24, pytest.approx(37.0 / 24)]
    after = (clip.times > pair.blows[1].start + 0.1) & (clip.times < pair.blows[1].start + 0.4)
    chest = pair.actor.first("chest")
    with_both, with_second = (displacement(r, clip, chest)[after].mean(axis=0) for r in (pair, nothing))
    assert with_second @ -FACING_BACK > 0.01  # from behind: forward
    assert with_both @ FACING_BACK > with_second @ FACING_BACK  # the first pushed the other way
    alone = run(react(actor_of(skeleton), clip, named("chest_back"), later))
    np.testing.assert_allclose(alone.times[0], later.frame / 24)
    assert alone.peaks()["spine.02"] == pytest.approx(nothing.peaks()["spine.02"], rel=0.2)


def test_a_second_hit_finds_the_arm_braked(skeleton, monkeypatch):
    """Muscles that had lost their damping with their pull, twice over, let the arm swing out and back 1.2 times as fast
    after the second of two hits 0.2 s apart."""
    clip, second = clip_of(skeleton, seconds=6.0), Hit(25.0 + 0.2 * 24.0)

    def fastest():
        pair = both(skeleton, Hit(25.0), second, clip, ("shoulder_front", "shoulder_back"))
        arm, since = pair.actor.first("upper_arm.L"), pair.times - pair.blows[1].start
        rate = np.linalg.norm(np.diff(pair.turn[:, arm], axis=0), axis=-1) / np.diff(pair.times)
        return rate[(since[:-1] > 0.12) & (since[:-1] < 0.5)].max()

    braked = fastest()
    monkeypatch.setattr(tuning, "light", lambda actor: np.zeros(len(actor.names), dtype=bool))
    assert braked < 0.85 * fastest()


def test_a_pair_ends_where_the_later_ends_and_never_jumps(skeleton):
    clip = clip_of(skeleton, seconds=6.0)
    pair = both(skeleton, HIT, Hit(25.0 + 24.0), clip)
    assert pair.end == pytest.approx(49.0 / 24 + 2.7)
    q, _ = pair.poses(clip)
    q0, _ = pair.actor.canonical(clip)
    late = clip.times >= pair.end
    assert np.degrees(angle(q, q0))[late].max() < 1e-9
    amount = pair.amount(np.arange(pair.start, pair.end, 1e-3))
    assert np.abs(np.diff(amount[1:])).max() < 0.01


def test_repeats_tell_less(skeleton):
    clip = clip_of(skeleton)
    actor, situation = actor_of(skeleton), named("chest_front")
    poses = actor.canonical(clip)
    frames = [25.0, 25.0 + 24 * 0.2, 25.0 + 24 * 0.25, 25.0 + 24 * 1.2]
    landed = throttle([land(actor, clip, situation, Hit(f, impulse=10.0), poses) for f in reversed(frames)])
    assert [blow.impulse for blow in landed] == [10.0, 5.0, 3.5, 10.0]
    assert repetition([1.0, 1.0, 1.2, 1.2, 9.0]) == [1.0, 1.0, 0.5, 0.5, 1.0]  # at one moment they are one blow
    assert repetition([1.0, 1.0], before=0.7) == [0.7, 0.7]


def test_off_centre_hits_twist_the_body(skeleton):
    """A push on the chest 15 cm to the left turns the trunk about the vertical; to the right the other way."""
    clip = clip_of(skeleton)

    def turn(x):
        hit = Hit(25.0, offset=np.array([x, 0.0, 0.0]), impulse=20.0)
        reaction = hit_on(skeleton, "chest_front", clip=clip, hit=hit)
        chest = reaction.actor.first("chest")
        k = int(np.searchsorted(reaction.times, reaction.start + 0.12))
        return reaction.turn[k, [reaction.actor.first("spine.1"), chest]].sum(axis=0)[1]  # about the bone = vertical

    middle, left, right = turn(0.0), turn(0.15), turn(-0.15)
    assert np.sign(left - middle) == -np.sign(right - middle)
    assert min(abs(left - middle), abs(right - middle)) > np.radians(2.0)


def test_an_angular_impulse_turns_without_pushing(skeleton):
    clip = clip_of(skeleton)
    up = np.array([0.0, 0.0, 1.0])
    reaction = hit_on(skeleton, "chest_front", clip=clip, hit=Hit(25.0, direction=up, impulse=0.0, angular=4.0))
    chest = reaction.actor.first("chest")
    k = int(np.searchsorted(reaction.times, reaction.start + 0.06))
    assert reaction.turn[k, chest][1] > np.radians(1.0)  # the bone's own axis points up


def test_a_blast_pushes_everything_away_from_its_place(skeleton):
    """From the left: all of the body goes right; what is nearer gets more; together it is the impulse given."""
    clip = clip_of(skeleton)
    actor, situation = actor_of(skeleton), named("chest_front")
    poses = actor.canonical(clip)
    origin = np.array([1.5, 0.0, 1.2])
    blow = land(actor, clip, situation, Hit(25.0, origin=origin, impulse=60.0), poses)
    reaction = hit_on(skeleton, "chest_front", clip=clip, hit=Hit(25.0, origin=origin, impulse=60.0))
    pulses = blow.forces(actor, reaction.model, reference_state(reaction, clip))
    total = sum(pulse.impulse for pulse in pulses)
    assert total[0] < -40.0 and np.linalg.norm(total) < 60.0
    assert sum(np.linalg.norm(pulse.impulse) for pulse in pulses) == pytest.approx(60.0)
    by_name = {actor.names[pulse.body]: np.linalg.norm(pulse.impulse) for pulse in pulses}
    assert by_name["upper_arm.L"] > by_name["upper_arm.R"]
    moments = (clip.times > reaction.start + 0.05) & (clip.times < reaction.start + 0.25)
    for role in ("chest", "head"):
        assert displacement(reaction, clip, actor.first(role))[moments].mean(axis=0)[0] < -0.01


def reference_state(reaction, clip):
    from core.model import State
    from core.reference import to_joints

    q, p = reaction.actor.canonical(clip)
    k = int(np.argmin(np.abs(clip.times - reaction.start)))
    rotation, position = to_joints(reaction.model, q[k], p[k])
    return State(rotation, position, np.zeros((reaction.model.n, 6)))


def test_a_striker_gives_what_momentum_allows(skeleton):
    """A heavier or faster striker gives more; never more than (1 + e) m v."""
    clip = clip_of(skeleton)
    actor, situation = actor_of(skeleton), named("chest_front")
    poses = actor.canonical(clip)
    reaction = hit_on(skeleton, "chest_front", clip=clip)
    state = reference_state(reaction, clip)

    def impulse(mass, speed, restitution=0.0):
        blow = land(actor, clip, situation, Hit(25.0, striker=(mass, speed, restitution)), poses)
        (pulse,) = blow.forces(actor, reaction.model, state)
        return np.linalg.norm(pulse.impulse)

    assert 0.0 < impulse(0.5, 10.0) < 5.0
    assert impulse(0.01, 10.0) == pytest.approx(0.1, rel=0.02)  # a light thing gives all it has
    assert impulse(0.5, 20.0) == pytest.approx(2.0 * impulse(0.5, 10.0), rel=1e-6)
    assert impulse(0.5, 10.0, 0.6) == pytest.approx(1.6 * impulse(0.5, 10.0), rel=1e-6)
    assert impulse(5.0, 10.0) > impulse(0.5, 10.0)
    struck = hit_on(skeleton, "chest_front", clip=clip, hit=Hit(25.0, striker=(2.0, 12.0, 0.2)))
    kin = kinematics(struck.model, reference_state(struck, clip))
    assert balance(struck.model, kin, np.zeros(3)).mass == pytest.approx(75.0, rel=1e-6)
    assert max(struck.peaks().values()) > 5.0
