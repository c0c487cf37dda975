"""What an artist shapes in a situation: envelope and tone as curves, influence along the chain, legal angles."""

import tomllib

import numpy as np
import pytest

from core import curve, situation, texts, tuning
from core.errors import SituationError
from core.hits import from_entry
from core.pose import Envelope
from core.progress import run
from core.react import Hit, react
from core.rotation import conjugate, log, multiply
from core.situation import named

from .figures import build
from .test_react import actor_of, clip_of

POINTS = ((0.0, 0.2), (0.4, 0.2), (1.0, 1.0))
CHEST = named("chest_front").with_changes(impulse=5.0, envelope=Envelope(0.0, 0.35, 0.25))


@pytest.fixture(scope="module")
def figure():
    skeleton = build(skin=True)
    return actor_of(skeleton), clip_of(skeleton)


def react_to(figure, **changes):
    actor, clip = figure
    return run(react(actor, clip, CHEST.with_changes(**changes), Hit(20.0)))


def turned(figure, reaction, bone):
    return float(np.degrees(np.linalg.norm(reaction.turn[:, figure[0].names.index(bone)], axis=-1).max()))


def test_curves_go_from_point_to_point_by_cosines():
    t = np.array([-1.0, 0.0, 0.4, 0.55, 0.7, 1.0, 9.0])
    u = 0.5 * (1.0 - np.cos(np.pi * 0.25))
    np.testing.assert_allclose(curve.at(POINTS, t), [0.2, 0.2, 0.2, 0.2 + 0.8 * u, 0.6, 1.0, 1.0], atol=1e-12)
    assert curve.at(((0.0, 3.0),), 5.0) == 3.0
    slope = np.gradient(curve.at(POINTS, np.linspace(0, 1, 2001)), 0.0005)
    assert np.abs(np.diff(slope)).max() < 0.02  # no corner


def test_an_envelope_by_points():
    e = Envelope(curve=((0.0, 1.0), (0.5, 1.0), (1.5, 0.4), (2.0, 0.0)))
    assert e.duration == 2.0
    np.testing.assert_allclose(e([-0.1, 0.0, 0.3, 1.0, 1.5, 2.0, 3.0]), [0.0, 1.0, 1.0, 0.7, 0.4, 0.0, 0.0], atol=1e-12)
    same = Envelope(curve=((0.0, 0.0), (0.1, 1.0), (0.2, 1.0), (2.7, 0.0)))
    t = np.linspace(0.0, 3.0, 400)
    np.testing.assert_allclose(same(t), Envelope(0.1, 0.1, 2.5)(t), atol=1e-12)


def test_a_reaction_shows_as_its_curve_says(figure):
    shape = ((0.0, 1.0), (0.3, 0.5), (0.6, 0.0))
    reaction = react_to(figure, envelope=Envelope(curve=shape))
    plain = react_to(figure)
    at = np.array([0.15, 0.3, 0.45])
    turn, whole = (r.deviation(reaction.start + at)[0] for r in (reaction, plain))
    part = np.linalg.norm(turn[:, reaction.struck], axis=-1) / np.linalg.norm(whole[:, reaction.struck], axis=-1)
    np.testing.assert_allclose(part, curve.at(shape, at) / CHEST.envelope(at), rtol=2e-3)
    assert reaction.end == pytest.approx(reaction.start + 0.6)


def test_tone_by_points(figure):
    """A curve takes the place of tone and recovery: the same one the same tone, a taut one less turn."""
    actor, _ = figure
    times = np.linspace(-0.1, 1.5, 60)
    plain = named("chest_front")
    struck = actor.first("chest")
    same = plain.with_changes(tone_curve=((0.0, plain.tone), (plain.recovery, 1.0)))
    a, b = (tuning.tone(actor, [(s, struck, times)]) for s in (plain, same))
    np.testing.assert_allclose(a.pull, b.pull, atol=1e-12)
    np.testing.assert_allclose(a.damping, b.damping, atol=1e-12)
    limp, taut = (react_to(figure, tone_curve=((0.0, x), (0.6, x))) for x in (0.2, 3.0))
    assert turned(figure, limp, "neck") > 1.3 * turned(figure, taut, "neck")


def test_numbers_by_points(figure):
    """A tone by points is the tone curve, whatever the recovery; what is the same at all points is the number."""
    points = ((0.0, 1.0), (0.5, 0.1))
    a, b = react_to(figure, tone=points, recovery=0.2), react_to(figure, tone_curve=points)
    np.testing.assert_array_equal(a.turn, b.turn)
    names = ("frequency", "ratio", "base_frequency", "share")
    plain = react_to(figure, frequency=1.7, share=0.8)
    same = {name: tuple((t, getattr(plain.blows[0].situation, name)) for t in (0.0, 0.3)) for name in names}
    np.testing.assert_array_equal(react_to(figure, **same).turn, plain.turn)
    neck = [{"spine.02": {"ratio": value, "frequency": 2.0}} for value in (0.4, ((0.0, 0.4), (9.0, 0.4)))]
    actor, clip = figure
    a, b = (run(react(actor, clip, CHEST, Hit(20.0), own)) for own in neck)
    np.testing.assert_array_equal(a.turn, b.turn)


def test_muscles_over_time(figure):
    """Until a number moves the reaction is that of the number; a neck that gets taut then comes home sooner."""
    plain, made = react_to(figure), react_to(figure, frequency=((0.0, 1.3), (0.2, 1.3), (0.25, 6.0)))
    assert made.blows[0].situation.frequency[0][1] == plain.blows[0].situation.frequency
    until = plain.start + np.linspace(0.0, 0.2, 15), plain.start + np.linspace(0.35, 0.5, 15)
    before, after = ([r.deviation(at)[0] for r in (plain, made)] for at in until)
    np.testing.assert_allclose(*before, atol=2e-3)
    neck = figure[0].names.index("neck")
    assert np.abs(after[1][:, neck]).max() < 0.5 * np.abs(after[0][:, neck]).max()


def test_a_bones_curve_goes_on_through_later_hits(figure):
    """A second blow that doesn't feel the first one meets the neck as the curve has it by then."""
    actor, clip = figure
    moves, still = ({"neck": {"frequency": value}} for value in (((0.0, 1.0), (0.5, 7.0)), 7.0))
    further = [(CHEST, Hit(20.0 + 0.7 * clip.fps))]
    a, b = (run(react(actor, clip, CHEST, Hit(20.0), own, None, further)) for own in (moves, still))
    assert len(a.parts) == 2 and np.abs(a.parts[0].turn[:9] - b.parts[0].turn[:9]).max() > 1e-4
    np.testing.assert_array_equal(a.parts[1].turn, b.parts[1].turn)
    ahead = curve.later(tuple((t, t * t) for t in np.linspace(0.0, 2.0, 41)), 0.5)
    np.testing.assert_allclose(curve.at(ahead, [0.0, 0.5, 9.0]), [0.25, 1.0, 4.0], atol=1e-9)


def test_numbers_over_time_are_written_and_checked():
    made = CHEST.with_changes(frequency=((0.0, 1.0), (0.4, 3.0)), share=((0.0, 1.0), (1.0, 0.5)))
    assert situation.from_table(tomllib.loads(situation.dump(made)), "x") == made
    twice = [[0.0, 1.0], [0.0, 2.0]]
    for value, said in (([], "not a number"), (twice, "Let them rise"), ([[0.0, 300.0]], "0 to 200")):
        with pytest.raises(SituationError, match=said):
            situation.changed(CHEST, {"frequency": value}, "x")


def test_influence_by_joints_from_the_blow(figure):
    """1 on the chest, 0.5 one joint away, nothing further out; what is simulated stays as it was."""
    actor, _ = figure
    plain, made = react_to(figure), react_to(figure, influence=(1.0, 0.5, 0.0))
    np.testing.assert_array_equal(plain.turn, made.turn)
    weight = dict(zip(actor.names, made.weights, strict=True))
    assert weight["spine.02"] == 1.0 and weight["neck"] == weight["clavicle.R"] == weight["spine.01"] == 0.5
    assert weight["head"] == weight["hand.L"] == 0.0
    assert made.peaks()["neck"] == pytest.approx(0.5 * plain.peaks()["neck"]) and made.peaks()["head"] == 0.0


def test_feet_stand_whatever_shows_of_the_body_above(figure):
    """Nothing shows of pelvis and legs: they are the clip's, to the point; half of it leads them half as far."""
    actor, clip = figure
    plain, none, half = (react_to(figure, impulse=9.0, influence=x) for x in ((), (1.0, 0.0), (1.0, 0.5)))
    own = actor.canonical(clip)[1]
    off = {k: np.abs(r.poses(clip)[1] - own) for k, r in (("plain", plain), ("none", none), ("half", half))}
    feet, pelvis = plain.footing.feet, plain.footing.base
    assert off["plain"][:, pelvis].max() > 0.01
    assert off["none"][:, [*feet, pelvis]].max() < 1e-6
    assert off["half"][:, pelvis].max() == pytest.approx(0.5 * off["plain"][:, pelvis].max(), rel=0.2)


def test_parts_of_a_reaction_show_as_their_own_blows_say(figure):
    """The second blow lands when the first one is over, on the head: its influence counts there."""
    actor, clip = figure
    on_head = CHEST.with_changes(influence=(1.0, 0.0), hit=("head",), impulse=2.0)
    first = CHEST.with_changes(influence=(1.0, 0.0))
    whole = run(react(actor, clip, first, Hit(20.0), further=[(on_head, Hit(40.0))]))
    alone = run(react(actor, clip, on_head, Hit(40.0)))
    assert len(whole.parts) == 2
    assert whole.peaks()["head"] == pytest.approx(alone.peaks()["head"], rel=1e-3) and whole.peaks()["head"] > 1.0


def test_legal_angles_hold(figure):
    """A stiff neck, an elbow that hardly bends, arms that hardly swing: the ranges of roles and of one side alone."""
    plain = react_to(figure, impulse=9.0)
    ranges = {"neck": (4.0,), "upper_arm.R": (2.0, 2.0, 2.0)}
    tight = react_to(figure, impulse=9.0, ranges=ranges)
    for bone, most in (("neck", 6.0), ("upper_arm.R", 4.0)):
        assert turned(figure, tight, bone) < most < turned(figure, plain, bone)
    assert turned(figure, tight, "upper_arm.L") > 0.8 * turned(figure, plain, "upper_arm.L")


def test_a_range_narrower_than_the_clip_leaves_the_clip_alone(figure):
    """The clip bends its elbows by 12 to 23 degrees; legal angles of 0 to 5 push nothing as long as no blow comes."""
    actor, clip = figure
    ranges = {"forearm": (0.0, 5.0), "shin": (0.0, 5.0), "neck": (0.5,), "spine": (0.5,), "thigh": (0.5, 0.5, 0.5)}
    still = react_to(figure, impulse=0.0, ranges=ranges)
    assert np.abs(still.turn).max() < 1e-8


def test_the_keys_survive_files_and_texts(tmp_path):
    made = CHEST.with_changes(
        tone_curve=POINTS,
        influence=(1.0, 0.25),
        counter=2.0,
        whip=0.5,
        dip=1.5,
        shift=0.25,
        ranges={"neck": (12.5,), "forearm": (0.0, 120.0), "thigh.L": (20.0, 10.0, 5.0)},
        envelope=Envelope(curve=((0.0, 1.0), (1.0, 0.0))),
    )
    path = tmp_path / "made.toml"
    path.write_text(situation.dump(made), encoding="utf-8")
    assert situation.load(path) == made
    assert texts.curve(texts.of_curve(POINTS), "it") == POINTS
    assert texts.numbers(texts.of_numbers(made.influence), "it") == made.influence
    assert texts.ranges(texts.of_ranges(made.ranges), "it") == made.ranges


def test_an_entry_changes_them_hit_by_hit():
    entry = {"situation": "chest_front", "counter": 2, "influence": [1, 0.5], "tone_curve": [[0, 0.3], [1, 1]]}
    entry |= {"envelope": {"relaxation": 0.5}, "ranges": {"neck": 10}}
    made, plain = from_entry(entry, "it").situation, named("chest_front")
    assert (made.counter, made.influence, made.tone_curve) == (2, (1, 0.5), ((0, 0.3), (1, 1)))
    assert (made.envelope.relaxation, made.envelope.sustain) == (0.5, plain.envelope.sustain)
    assert made.ranges == {"neck": (10.0,)} and made.gain == plain.gain


def test_who_is_struck_in_the_belly_doubles_up(figure):
    """Over the hips the chest nods forwards, farther than on a trunk of the usual range."""
    actor, clip = figure
    chest, pelvis = actor.find("", ("chest",), ""), actor.first("pelvis")

    def nods(**changes):
        reaction = run(react(actor, clip, named("belly_blast").with_changes(**changes), Hit(20.0)))
        own, shown = actor.canonical(clip)[0], reaction.poses(clip)[0]
        off = [multiply(shown[:, i], conjugate(own[:, i])) for i in (pelvis, chest)]
        about_left = log(multiply(conjugate(off[0]), off[1])) @ reaction.blows[0].axes[0]
        return np.degrees(about_left.max())

    assert 1.1 * nods(ranges={}) < nods() < 60.0


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("counter = 4", "counter is 4. Give it 0 to 3"),
        ("influence = [1, 2]", "influence is [1, 2]. Give it parts from 0 to 1"),
        ('influence = "all"', "is not a list of numbers"),
        ("tone_curve = [[0, 1, 2]]", "is not a list of [seconds, value] pairs"),
        ("tone_curve = [[0, 1], [0, 2]]", "tone_curve: the curve's times are [0, 0]. Let them rise"),
        ("tone_curve = [[0, -1]]", "tone_curve: the curve has the value -1. Give it 0 to 10"),
        ("[envelope]\ncurve = [[0, 1], [1, 1]]", "does not end at 0"),
        ("[envelope]\ncurve = [[0, 2], [1, 0]]", "the value 2. Give it 0 to 1"),
        ("[ranges]\nroot = 3", "ranges of 'root' are unknown. Use"),
        ("[ranges]\nforearm = 3", "the range of 'forearm' is [3.0]. Give it two angles"),
        ("[ranges]\nforearm = [90, 10]", "two angles, the least and the most flexion"),
        ("[ranges]\nneck = 0", "one angle"),
        ('[ranges]\nneck = "wide"', "is not an angle or a list of angles"),
        ('[ranges]\n"neck.L" = 3', "ranges of 'neck.L' are unknown"),
    ],
)
def test_refused_by_key(lines, reason, tmp_path):
    path = tmp_path / "one.toml"
    path.write_text('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = 1\n' + lines, encoding="utf-8")
    with pytest.raises(SituationError) as refusal:
        situation.load(path)
    assert reason in str(refusal.value) and "one.toml" in str(refusal.value)


@pytest.mark.parametrize(
    ("read", "text", "reason"),
    [
        (texts.curve, "0 1, 2", "it: '0 1, 2' is no curve"),
        (texts.curve, "0 1, soon 2", "'soon 2' is not a row of numbers"),
        (texts.numbers, "1 much", "'1 much' is not a row"),
        (texts.ranges, "neck wide", "it, neck: 'wide'"),
    ],
)
def test_texts_are_refused_by_name(read, text, reason):
    with pytest.raises(SituationError, match=reason.replace("?", r"\?")):
        read(text, "it")
