"""Planned hits: files of them, strengths by name, seeds, and that a hit alone is what it is without the others."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core import hits, strength
from core.blows import SPREAD, VARIATION, Hit, land
from core.dynamics import kinematics
from core.errors import SituationError
from core.forces import Striker
from core.meeting import CHEST, TAUT
from core.model import State
from core.pose import Envelope
from core.progress import run
from core.react import react
from core.roles import base_role
from core.rotation import angle, rotate
from core.situation import BoneSetting, dump, named
from core.stage import Stage
from core.topology import LEG

from .figures import HUMAN, build
from .test_hanging import told
from .test_react import actor_of, clip_of, hit_on, standing

DOCS = Path(__file__).resolve().parent.parent.parent / "docs" / "strengths.md"


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def read(tmp_path, text):
    path = tmp_path / "hits.toml"
    path.write_text(text, encoding="utf-8")
    return hits.load(path)


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_file_of_hits(tmp_path):
    first, second, third = read(
        tmp_path,
        """
        [[hits]]
        situation = "shoulder_front"
        frame = 12
        impulse = 6.5
        offset = [0.1, 0, 0]
        [[hits]]
        situation = "chest_front"
        after = 0.2
        strength = "shotgun"
        seed = 3
        [[hits]]
        situation = "chest_back"
        after = 1
        strike = [0, 1, 0]
        striker = [2.0, 12.0]
        gain = 2.0
        """,
    )
    assert hits.frames([first, second, third], 9.0, 25.0) == [12.0, 17.0, 42.0]
    assert (first.situation.impulse, first.situation.gain, first.offset) == (6.5, 1.0, (0.1, 0, 0))
    landed = second.hit(17.0)
    slug = strength.named("shotgun")
    assert (landed.impulse, landed.mass, landed.contact) == (slug.impulse, slug.mass, slug.contact)
    assert (landed.gain, landed.seed) == (slug.gain, 3)
    assert third.hit(42.0).striker == (2.0, 12.0, 0.0) and third.situation.direction == (0, 1, 0)
    assert hits.frames([second], 9.0, 25.0) == [14.0]  # after nothing: after the default


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "hits"),
        ("hits = []", "no hit"),
        ("[hits]\nframe = 3", "section"),
        ("[[hits]]\nframe = 3", "situation"),
        ('[[hits]]\nsituation = "chest"', "chest_front"),
        ('[[hits]]\nsituation = "chest_front"\nfrmae = 3', "frmae"),
        ('[[hits]]\nsituation = "chest_front"\nframe = "3"', "frame"),
        ('[[hits]]\nsituation = "chest_front"\nframe = 3\nafter = 1', "frame"),
        ('[[hits]]\nsituation = "chest_front"\nstrength = "canon"', "shotgun"),
        ('[[hits]]\nsituation = "chest_front"\nstrength = "kick"\nimpulse = 3', "one strength"),
        ('[[hits]]\nsituation = "chest_front"\nstrength = "kick"\nangular = 3', "one strength"),
        ('[[hits]]\nsituation = "chest_front"\nstriker = [0.0, 3.0]', "mass"),
        ('[[hits]]\nsituation = "chest_front"\nstriker = [1.0]', "striker"),
        ('[[hits]]\nsituation = "chest_front"\norigin = [1, 0, 0]\ndirection = [1, 0, 0]', "blast"),
        ('[[hits]]\nsituation = "chest_front"\norigin = [1, 0, 0]\nangular = 2', "blast"),
        ('[[hits]]\nsituation = "chest_front"\ngain = -1', "gain"),
        ('[[hits]]\nsituation = "chest_front"\nseed = -1', "seed"),
        ('[[hits]]\nsituation = "chest_front"\nseed = 1.5', "seed"),
        ('[[hits]]\nsituation = "chest_front"\ncontact = 9', "contact"),
        ('[[hits]]\nsituation = "chest_front"\ndrive = "velocities"\nimpulse = 9', "no effect"),
        ('[[hits]]\nsituation = "shoulder_front"\ndrive = "velocities"\nimpulse = 9', "no effect"),
        ("[[hits", "TOML"),
    ],
)
def test_wrong_files_are_refused_by_name(tmp_path, text, word):
    with pytest.raises(SituationError, match=word) as refusal:
        read(tmp_path, text)
    assert "hits.toml" in str(refusal.value) and str(refusal.value).endswith(".")


def test_velocities_of_a_leg_have_a_strength_and_a_direction(tmp_path):
    """Weight and balance answer to the blow's impulse."""
    (made,) = read(
        tmp_path, '[[hits]]\nsituation = "leg_back"\ndrive = "velocities"\nimpulse = 9\ndirection = [0, 1, 0]'
    )
    assert made.situation.drive == "velocities" and made.situation.impulse == 9.0


def test_velocities_leave_what_they_do_not_tell_to_the_blow(tmp_path, actor, clip):
    """The document tells an upper arm none that is hit from the side; where no pose is held nothing answers to it."""
    path = tmp_path / "side.toml"
    path.write_text(dump(told("shoulder_inside")), encoding="utf-8")
    arm, swung = actor.first("upper_arm.L"), []
    for impulse in (1.0, 20.0):
        (made,) = read(tmp_path, f'[[hits]]\nsituation = "{path.as_posix()}"\nimpulse = {impulse}')
        hit = Hit(25.0, direction=np.array([0.0, 1.0, 0.0]))
        stage = Stage(actor, clip, [(made.situation, hit)], {}, {})
        reference = stage.reference(stage.start, 1, 0.01, 0.01)
        before = reference.state(0)
        swung.append(stage.kicked(before, stage.start, reference).twist[arm])
    assert np.linalg.norm(swung[1] - swung[0]) > 1.0  # [rad/s] of 19 N s near its shoulder
    with pytest.raises(SituationError, match="no effect"):
        read(tmp_path, '[[hits]]\nsituation = "shoulder_inside"\ndrive = "velocities"\nimpulse = 9')


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SituationError, match="nothing.toml"):
        hits.load(tmp_path / "nothing.toml")


def test_what_is_written_is_read_back(tmp_path):
    own = named("leg_back").with_changes(name='my "kick"', tone=0.9)
    planned = (
        hits.HitSetting(named("chest_front"), 12.0, bone="head", strength="club", gain=2.0, name='"b"', enabled=False),
        hits.HitSetting(own, after=0.25, direction=(0.0, 1.0, 0.5), offset=(0.1, 0.0, 0.0), seed=3),
        hits.HitSetting(own.with_changes(drive="velocities")),
        hits.HitSetting(named("chest_back"), origin=(1.0, 2.0, 3.0)),
        hits.HitSetting(named("chest_back"), striker=(1.0, 2.0, 0.5)),
        hits.HitSetting(named("chest_back"), angular=-2.5),
    )
    assert read(tmp_path, hits.dump(planned)) == planned


# -- strengths ---------------------------------------------------------------------------------------------------------


def test_strengths_are_ordered_sensibly_and_say_where_they_are_from():
    table = strength.presets()
    for weaker, stronger in (
        ("light_punch", "punch"), ("punch", "heavy_punch"), ("heavy_punch", "kick"), ("arrow", "rifle"),
        ("pistol", "rifle"), ("rifle", "shotgun"), ("push", "shove"), ("shove", "tackle"),
        ("small_blast", "large_blast"),
    ):  # fmt: skip
        assert table[weaker].impulse < table[stronger].impulse
    assert table["pistol"].impulse == pytest.approx(0.00804 * 350.5, rel=0.02)
    assert table["rifle"].impulse == pytest.approx(0.00953 * 838, rel=0.02)
    assert table["heavy_punch"].impulse == pytest.approx(2.9 * 9.14, rel=0.02)
    for item in table.values():
        assert 0.0 < item.contact < 0.5 and item.gain >= 1.0 and len(item.figures) > 8 and len(item.source) > 8
    with pytest.raises(SituationError, match="light_punch"):
        strength.named("cannon")


def test_the_documented_table_is_the_one_in_use():
    rows = [line.split("|")[1:-1] for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    told = {cells[0].strip(" `"): [cell.strip() for cell in cells[1:]] for cells in rows}
    wanted = {
        name: [
            f"{s.impulse:g}",
            f"{1000 * s.contact:g}",
            f"{s.gain:g}",
            f"{s.gain * s.impulse:.3g}",
            f"{s.mass:g}",
            s.figures,
            s.source,
        ]
        for name, s in strength.presets().items()
    }
    assert told == wanted


@pytest.mark.parametrize("bone", ["chest", "pelvis", "hand.L", "shin.R"])
def test_a_part_takes_of_a_named_strength_what_a_thing_of_its_mass_gives(skeleton, bone):
    """As the impact of a mass on a body at rest, at the speed with which it gives a chest what the name says."""
    clip, actor, situation = clip_of(skeleton), actor_of(skeleton), named("chest_front")
    club = strength.named("club")
    stage = Stage(actor, clip, [(situation, hits.HitSetting(situation, bone=bone, strength="club").hit(8.0))], {}, {})
    blow = stage.blows[0]
    here = stage.reference(blow.start, 1, 1e-3).state(0)
    still = State(here.rotation, here.position, np.zeros_like(here.twist))
    speed = club.gain * club.impulse * (1.0 / club.mass + 1.0 / CHEST)
    thing = Striker(blow.struck, blow.point, club.mass, speed * blow.direction, normal=-blow.direction)
    np.testing.assert_allclose(stage.given[0], thing.impulse(stage.model, kinematics(stage.model, still)), rtol=1e-9)
    assert blow.impulse == pytest.approx(np.linalg.norm(stage.given[0]))
    assert (blow.taken < 0.5) == (bone == "hand.L")


@pytest.mark.parametrize(("bone", "way"), [("pelvis", (0, 1, 0)), ("head", (0, 1, 0)), ("forearm.L", (0, 1, 0))])
def test_a_contact_that_lasts_gives_no_part_more_than_the_whole_body_nor_more_speed_than_it_has(skeleton, bone, way):
    """A tackler who gives a chest 150 N s in 0.2 s comes at 5 m/s: no part is faster, and none takes more than that."""
    clip, tackle = standing(skeleton), strength.named("tackle")
    setting = hits.HitSetting(named("chest_front"), bone=bone, direction=way, strength="tackle")
    reaction = hit_on(skeleton, "chest_front", setting.hit(25.0), clip)
    speed = tackle.impulse * (1.0 / tackle.mass + 1.0 / 75.0 + (1.0 / CHEST - 1.0 / 75.0) / (1.0 + 0.085 / TAUT))
    assert 4.0 < speed < 6.0
    q, p = reaction.poses(clip)
    at = p[:, reaction.struck] + rotate(q[:, reaction.struck], reaction.point)
    pace = np.gradient(at, clip.times, axis=0) @ reaction.direction
    given = np.linalg.norm(reaction.given[0])
    assert 0.1 * speed < pace.max() < speed
    assert given <= tackle.impulse * (1.0 + 1e-9) and (given == pytest.approx(tackle.impulse)) == (bone == "pelvis")


def test_what_lasts_goes_through_an_arm_to_the_trunk(skeleton):
    """A tackle at the shoulder moves the body, one at the hand less; what is over at once strikes the arm alone."""
    clip, actor, situation = clip_of(skeleton), actor_of(skeleton), named("shoulder_back")

    def landed(bone, name, along=0.1):
        setting = hits.HitSetting(situation.with_changes(along=along), bone=bone, strength=name)
        stage = Stage(actor, clip, [(situation.with_changes(along=along), setting.hit(25.0))], {}, {})
        np.testing.assert_allclose(sum(pulse.impulse for pulse in stage.pulses), stage.given[0], atol=1e-12)
        return stage.blows[0], stage.pulses

    shoulder, (on_arm, on_trunk) = landed("upper_arm.L", "tackle")
    assert actor.roles[on_trunk.body].startswith("spine") and on_arm.body == shoulder.struck
    ratio = np.linalg.norm(on_trunk.impulse) / np.linalg.norm(on_arm.impulse)
    assert shoulder.taken > 0.8 and ratio == pytest.approx(shoulder.passed / (1.0 - shoulder.passed))
    hand, _ = landed("hand.L", "tackle")
    assert hand.taken < 0.8 * shoulder.taken
    for bone, name in (("upper_arm.L", "club"), ("chest", "tackle"), ("thigh.L", "tackle")):
        blow, pulses = landed(bone, name)
        assert len(pulses) == 1 and blow.passed == 0.0


@pytest.mark.parametrize(("base_frequency", "contact", "e"), [(0.8, 0.4, 0.0), (3.0, 0.2, 0.5), (3.0, 1.0, 0.0)])
def test_no_striker_gives_more_than_it_would_to_the_whole_body(skeleton, base_frequency, contact, e):
    """Nothing but feet holds a body to the world: with its base as held to it a pelvis took up to twice of that."""
    situation = named("chest_front").with_changes(base_frequency=base_frequency)
    hit = Hit(25.0, "pelvis", striker=(80.0, 5.0, e), contact=contact)
    given = np.linalg.norm(Stage(actor_of(skeleton), standing(skeleton), [(situation, hit)], {}, {}).given[0])
    most = (1.0 + e) * 5.0 / (1.0 / 80.0 + 1.0 / 75.0)
    assert 0.6 * most < given < most


def test_muscles_hold_while_a_contact_lasts_as_they_do_afterwards(skeleton):
    """With the braces of elbows, and with what an earlier hit has left of them.  What legs then give to the plan isn't
    known yet."""
    actor, clip, situation = actor_of(skeleton), standing(skeleton), named("chest_front")
    first, second = Hit(20.0, impulse=20.0), Hit(25.0, "head", striker=(5.0, 5.0, 0.0), contact=0.2)
    plans = [(situation, second)], [(situation, first), (situation, second)]
    alone, both = (Stage(actor, clip, plan, {}, {}) for plan in plans)
    fresh, tired = alone.given[0], both.given[1] / both.blows[1].told
    assert np.linalg.norm(tired) < 0.99 * np.linalg.norm(fresh)
    Z = alone._impedance(alone.blows[0], led=True)
    muscle = alone.forces(alone.reference(alone.start, 1, 1 / 120))[0]
    h, tone, damped = alone.blows[0].lasting, *(x[0, :, None, None] for x in (muscle.tone, muscle.damped))
    K, D = (np.broadcast_to(x, (1, *Z.shape))[0] for x in (muscle.stiffness, muscle.damping))
    other = [base_role(role) not in LEG for role in actor.roles]
    np.testing.assert_allclose(Z[other], (h * damped * D + h**2 * tone * K)[other], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bone", ["chest", "upper_arm.L"])
def test_a_contact_that_only_just_lasts_gives_as_one_that_only_just_does_not(skeleton, bone):
    actor, clip, situation = actor_of(skeleton), standing(skeleton), named("shoulder_back")
    hit = hits.HitSetting(situation, bone=bone, strength="kick").hit(25.0)
    below, above = (
        Stage(actor, clip, [(situation, replace(hit, contact=c))], {}, {}).blows[0].taken for c in (0.03, 0.03001)
    )
    assert above == pytest.approx(below, rel=0.01)


@pytest.mark.parametrize("bone", ["hand.L", "Shield"])
def test_what_an_arm_holds_and_a_twist_bone_in_it_are_no_trunk(bone):
    """A blow on the hand or the shield goes on to the spine, not to a helper in the upper arm or the shield itself."""
    parent, head, tail = HUMAN["forearm.L"]
    half = tuple(0.5 * (np.array(head) + tail))
    joints = {**HUMAN, "forearm_twist.L": (parent, head, half), "forearm.L": ("forearm_twist.L", half, tail)}
    sk = build({**joints, "Shield": ("forearm.L", (0.5, 0.1, 1.2), (0.5, 0.1, 0.9))}, skin=True)
    actor, situation = actor_of(sk), named("shoulder_back")
    assert {actor.roles[actor.names.index(name)] for name in ("forearm_twist.L", "Shield")} <= {"helper", ""}
    setting = hits.HitSetting(situation, bone=bone, strength="tackle")
    blow = Stage(actor, standing(sk), [(situation, setting.hit(25.0))], {}, {}).blows[0]
    assert actor.roles[blow.behind[0]].startswith("spine") and blow.taken > 0.4


def test_an_impulse_in_numbers_is_given_whole(skeleton):
    given = Stage(
        actor_of(skeleton), clip_of(skeleton), [(named("chest_front"), Hit(8.0, "hand.L", impulse=5.0))], {}, {}
    ).given
    assert np.linalg.norm(given[0]) == pytest.approx(5.0)


def test_presets_say_their_gain(skeleton):
    """A preset's blow is the real thing times its gain; a strength given with the hit is taken as it is."""
    clip = clip_of(skeleton)
    actor, situation = actor_of(skeleton), named("shoulder_front")
    poses = actor.canonical(clip)

    def landed(**options):
        return land(actor, clip, situation, Hit(25.0, **options), poses).impulse

    assert situation.gain > 1.0 and landed() == situation.gain * situation.impulse
    assert landed(gain=1.0) == situation.impulse and landed(gain=3.0) == 3.0 * situation.impulse
    assert landed(impulse=7.0) == 7.0 and landed(impulse=7.0, gain=2.0) == 14.0


# -- seeds -------------------------------------------------------------------------------------------------------------


def test_a_seed_varies_within_bounds_and_always_alike(skeleton):
    clip = clip_of(skeleton)
    actor, situation = actor_of(skeleton), named("chest_front")
    poses = actor.canonical(clip)
    plain = land(actor, clip, situation, Hit(25.0), poses)
    varied = [land(actor, clip, situation, Hit(25.0, seed=seed), poses) for seed in range(1, 60)]
    turns = [np.arccos(np.clip(blow.direction @ plain.direction, -1.0, 1.0)) for blow in varied]
    factors = [blow.impulse / plain.impulse for blow in varied]
    assert np.allclose([np.linalg.norm(blow.direction) for blow in varied], 1.0, atol=1e-12)
    assert 0.8 * SPREAD < max(turns) < SPREAD + 1e-9 and min(turns) < 0.4 * SPREAD
    assert 0.6 * VARIATION < max(factors) - 1.0 < VARIATION and 0.6 * VARIATION < 1.0 - min(factors) < VARIATION
    assert np.linalg.norm(np.mean([blow.direction for blow in varied], axis=0) - plain.direction) < 0.05
    again = land(actor, clip, situation, Hit(25.0, seed=7), poses)
    assert np.array_equal(again.direction, varied[6].direction) and again.impulse == varied[6].impulse
    assert varied[6].told == 1.0603737892159415  # on every machine and in every Blender


# -- together and alone ------------------------------------------------------------------------------------------------


def test_without_the_first_the_second_is_what_it_is_alone(skeleton):
    clip = clip_of(skeleton, seconds=6.0)
    actor = actor_of(skeleton)
    first, second = (named("shoulder_front"), Hit(25.0)), (named("chest_back"), Hit(25.0 + 0.2 * 24.0))
    pair = run(react(actor, clip, *first, further=[second]))
    alone = run(react(actor, clip, *second))
    assert [blow.told for blow in pair.blows] == [1.0, 0.5] and alone.blows[0].told == 1.0
    for other in (run(react(actor, clip, *second, further=[])), hit_on(skeleton, "chest_back", second[1], clip)):
        assert np.array_equal(other.turn, alone.turn) and np.array_equal(other.travel, alone.travel)
    q, _ = pair.poses(clip)
    q1, _ = alone.poses(clip)
    assert np.degrees(angle(q, q1)).max() > 5.0  # together they are something else


def test_the_order_of_the_list_does_not_matter(skeleton):
    clip = clip_of(skeleton, seconds=6.0)
    a, b = (named("shoulder_front"), Hit(25.0)), (named("chest_back"), Hit(31.0))
    one, other = (run(react(actor_of(skeleton), clip, *x, further=[y])) for x, y in ((a, b), (b, a)))
    assert np.array_equal(one.turn, other.turn)


def test_hits_far_apart_begin_anew_and_the_clip_is_itself_between(skeleton):
    clip = clip_of(skeleton, seconds=12.0)
    actor = actor_of(skeleton)
    late = Hit(25.0 + 6.0 * 24.0)
    both = run(react(actor, clip, named("shoulder_front"), Hit(25.0), further=[(named("chest_back"), late)]))
    q, p = both.poses(clip)
    q0, p0 = actor.canonical(clip)
    off = np.degrees(angle(q, q0)).max(axis=1)
    first_end, second = both.blows[0].end, both.blows[1].start
    between = (clip.times >= first_end) & (clip.times <= second)
    assert between.sum() > 50 and off[between].max() < 1e-9 and np.abs(p - p0)[between].max() < 1e-12
    alone = run(react(actor, clip, named("chest_back"), late))
    q1, p1 = alone.poses(clip)
    after = clip.times >= second
    assert off[after].max() > 10.0
    np.testing.assert_allclose(q[after], q1[after], atol=1e-14)  # outside of reactions by another way to the clip
    np.testing.assert_allclose(p[after], p1[after], atol=1e-14)
    turn, _ = both.deviation(clip.times)
    assert np.array_equal(turn[after], alone.deviation(clip.times)[0][after])
    assert both.peaks().keys() >= alone.peaks().keys()
    assert all(both.peaks()[name] >= peak - 1e-9 for name, peak in alone.peaks().items())
    first = run(react(actor, clip, named("shoulder_front"), Hit(25.0)))
    assert both.substeps == alone.substeps + first.substeps


def test_a_hit_soon_after_a_short_reaction_still_tells_less(skeleton):
    """The first is over before the second lands; that it landed counts."""
    clip = clip_of(skeleton, seconds=6.0)
    short = named("chest_front").with_changes(envelope=Envelope(0.0, 0.1, 0.1))
    pair = run(react(actor_of(skeleton), clip, short, Hit(25.0), further=[(short, Hit(25.0 + 0.3 * 24.0))]))
    assert len(pair.parts) == 2 and [blow.told for blow in pair.blows] == [1.0, 0.7]


def test_every_hit_keeps_its_own_situation_s_bone_values(skeleton):
    """What the user sets on a bone is laid over each situation's own values, not over those of the first."""
    clip = clip_of(skeleton, seconds=6.0)
    pair = [(named(n).with_changes(drive="velocities"), Hit(f)) for n, f in (("chest_back", 25.0), ("leg_back", 49.0))]
    user = {"spine.01": {"weight": 0.9}, "thigh.R": {"weight": 0.9}}  # weights show only at the end
    with_user, plain = (
        run(react(actor_of(skeleton), clip, *pair[0], settings=s, further=pair[1:])) for s in (user, {})
    )
    assert np.array_equal(with_user.turn, plain.turn)
    k = int(np.searchsorted(plain.times, plain.blows[1].start + 1e-6))
    thigh = plain.actor.first("thigh.R")
    jump = np.diff(np.degrees(plain.turn[k - 2 : k + 1, thigh]), n=2, axis=0) / np.diff(plain.times[k - 1 : k + 1])
    assert np.linalg.norm(jump) > 100.0  # [deg/s] the second one's own velocities
    assert np.count_nonzero(with_user.weights != 1.0) == 2


def test_a_later_hit_brings_the_bones_that_its_situation_names(skeleton):
    """As the document's files do: no roles, bones by name."""
    names = named("shoulder_front").with_changes(
        simulate=(), support=(), bones={"forearm.R": BoneSetting(simulated=True), "hand.R": BoneSetting(simulated=True)}
    )
    actor = actor_of(skeleton)
    pair = [(named("chest_front"), Hit(25.0)), (names, Hit(29.0))]
    stage = Stage(actor, clip_of(skeleton), pair, {}, {})
    assert stage.moving[actor.names.index("forearm.R")] and stage.moving[actor.names.index("hand.R")]
    alone = Stage(actor, clip_of(skeleton), pair[1:], {}, {})
    assert not alone.moving[actor.names.index("spine.01")]


def test_repeats_of_every_kind_tell_less(skeleton):
    """Twists, strikers and velocities too: the second of two at 0.2 s gives half where muscles have no time to act."""
    clip = clip_of(skeleton, seconds=6.0)
    situation, early = named("chest_front"), Hit(25.0, impulse=0.0)
    for options in ({"striker": (2.0, 8.0, 0.0)}, {"impulse": 9.0}, {"origin": np.array([0.0, -2.0, 1.2])}):
        later = Hit(25.0 + 0.2 * 24.0, contact=0.02, **options)
        alone = run(react(actor_of(skeleton), clip, situation, later))
        pair = run(react(actor_of(skeleton), clip, situation, early, further=[(situation, later)]))
        assert np.linalg.norm(pair.given[1]) == pytest.approx(0.5 * np.linalg.norm(alone.given[0]), rel=1e-6)
        assert np.linalg.norm(alone.given[0]) > 1.0
    twist = Hit(25.0 + 0.2 * 24.0, impulse=0.0, angular=4.0)
    pair = run(react(actor_of(skeleton), clip, situation, early, further=[(situation, twist)]))
    assert pair.blows[1].angular == 2.0
