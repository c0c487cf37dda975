"""Bone poses, envelopes, links and situations."""

from dataclasses import replace

import numpy as np
import pytest

from core import library, links, situation
from core.errors import SituationError
from core.pose import Envelope, Pose, add, importance
from core.rotation import exp, log, multiply

AXES = np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, 1]])  # left, forward, up of a figure that faces -y
UP, DOWN, FORWARD = AXES[2], -AXES[2], AXES[1]


def pose(vector, weight, translation=(0.0, 0.0, 0.0)):
    return Pose(exp(np.array([vector])), np.array([translation]), np.array([float(weight)]))


def test_addition_goes_by_importance_on_the_shorter_arc():
    """t = w_r / (w_q + w_r) (3.20): 10 + 50 turns five sixths of the way; the sum keeps the higher importance."""
    both = pose([0, 0, 0], 10) + pose([0, 0, 1.2], 50, (6.0, 0, 0))
    np.testing.assert_allclose(log(both.rotation), [[0, 0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(both.translation, [[5.0, 0, 0]], atol=1e-12)
    assert both.weight == [50.0]
    flipped = Pose(-pose([0, 0, 1.2], 50).rotation, np.zeros((1, 3)), np.array([50.0]))
    np.testing.assert_allclose(log((pose([0, 0, 0], 10) + flipped).rotation), [[0, 0, 1.0]], atol=1e-12)


def test_a_pose_without_importance_says_nothing_and_any_number_adds_up():
    a, b = pose([0.3, 0, 0], 10), pose([0, 0.5, 0], 0)
    np.testing.assert_allclose((a + b).rotation, a.rotation, atol=1e-12)
    np.testing.assert_allclose((b + a).rotation, a.rotation, atol=1e-12)
    three = add([pose([0, 0, 0], 10), pose([0, 0, 0.9], 10), pose([0, 0, 0.9], 10)])
    np.testing.assert_allclose(log(three.rotation), [[0, 0, 0.675]], atol=1e-12)  # 0.45, then half of what is left
    assert (0.5 * pose([0, 0, 0], 50)).weight == [25.0]


def test_walk_and_wave():
    """Two clips by automatic importance: the bone that waves follows the wave, the one that walks the walk (3.25)."""
    t = np.linspace(0, 1, 30)
    swing = np.sin(6 * t)[:, None] * np.array([0.8, 0, 0])
    still = np.zeros_like(swing)
    walk = exp(np.stack((swing, still), axis=1))
    wave = exp(np.stack((still, swing), axis=1))
    w_walk, w_wave = importance(walk, t), importance(wave, t)
    assert w_walk[0] == w_wave[1] == 400.0 and w_walk[1] == w_wave[0] == 10.0
    zero = np.zeros((30, 2, 3))
    mixed = Pose(walk, zero, w_walk) + Pose(wave, zero, w_wave)
    np.testing.assert_allclose(
        np.linalg.norm(log(mixed.rotation), axis=-1)[7], 0.8 * np.abs(np.sin(6 * t[7])) * 400 / 410
    )


def test_envelope_of_the_document():
    """Attack 0.1, sustain 0.1, relaxation 2.5 s with (1 - cos u) / 2 ramps."""
    e = Envelope(0.1, 0.1, 2.5, "hold")
    assert e.duration == pytest.approx(2.7)
    np.testing.assert_allclose(
        e([-0.1, 0.0, 0.05, 0.1, 0.15, 0.2, 1.45, 2.7, 3.0]), [0, 0, 0.5, 1, 1, 1, 0.5, 0, 0], atol=1e-12
    )
    np.testing.assert_allclose(e(0.2 + 2.5 / 4), (1 + np.cos(np.pi / 4)) / 2, atol=1e-12)
    assert Envelope(0.0, 1.0, 1.0)(0.0) == 1.0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"attack": -1.0}, "attack is -1.0 s"),
        ({"mode": "loop"}, "mode 'loop' is unknown"),
        ({"attack": 1e-6, "sustain": 0.0, "relaxation": 0.0}, "has no length"),
        ({"mode": "hold", "simulation": 0.0}, "held after 0 s. Simulate for 0.001 s or more"),
    ],
)
def test_envelope_refuses(wrong, said):
    with pytest.raises(SituationError, match=said):
        Envelope(**wrong)


def tip(link, angle, axes=AXES):
    """Where a positive velocity takes the tip of a link."""
    return np.cross(links.axis(link, angle, axes), link)


def test_link_axes_reproduce_the_documents_directions():
    """Leg from the back: thigh 90, +300 swings forward; outside (R leg): 0, +900 swings left; chest from the back:
    forward."""
    np.testing.assert_allclose(tip(DOWN, 90), FORWARD, atol=1e-12)
    np.testing.assert_allclose(tip(UP, 90), FORWARD, atol=1e-12)
    np.testing.assert_allclose(tip(DOWN, 0), AXES[0], atol=1e-12)
    np.testing.assert_allclose(tip(UP, 0), -AXES[0], atol=1e-12)
    np.testing.assert_allclose(tip(FORWARD, 90), AXES[2], atol=1e-12)  # a foot that points forward lifts its toes


def test_link_axis_is_square_to_the_link_and_turns_about_it(rng):
    for _ in range(50):
        link = rng.normal(size=3)
        a, b = links.axis(link, 20.0, AXES), links.axis(link, 80.0, AXES)
        assert abs(a @ link) < 1e-9 and np.linalg.norm(a) == pytest.approx(1.0)
        assert np.cross(a, b) @ link > 0.0
        assert a @ b == pytest.approx(np.cos(np.radians(60.0)))


def test_presets_hold_the_documents_tables():
    assert len(situation.presets()) == 12
    front, back = situation.named("shoulder_front"), situation.named("shoulder_back")
    table = {"spine.1": (-90, 600), "spine.2": (45, 300), "spine.3": (45, 300), "neck": (45, 300)}
    table |= {"clavicle.L": (-90, 300), "upper_arm.L": (-90, 300), "forearm.L": (-90, 0)}
    assert {role: (s.angle, s.velocity) for role, s in front.bones.items()} == table
    assert {role: (s.angle, -s.velocity) for role, s in back.bones.items()} == table
    inside = situation.named("leg_inside").bones
    assert (inside["thigh.R"].angle, inside["thigh.R"].velocity) == (0, -900)
    assert {(inside[r].angle, inside[r].velocity) for r in ("shin.R", "foot.R", "toe.R")} == {(90, -600)}
    chest = situation.named("chest_back").bones
    assert {(s.angle, s.velocity) for s in chest.values()} == {(90, 600)} and len(chest) == 3


@pytest.mark.parametrize("name", situation.everything())
def test_situations_survive_toml(name, tmp_path):
    one = replace(situation.named(name), name='say "hit"\\', impulse=3.25)
    path = tmp_path / "one.toml"
    path.write_text(situation.dump(one), encoding="utf-8")
    assert situation.load(path) == one


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name = ", "one.toml"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = 1\nstrenght = 2', "strenght"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]', "impulse"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 0, 0]\nimpulse = 1', "direction"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1]\nimpulse = 1', "direction"),
        ('name = "x"\nhit = "head"\ndirection = [0, 1, 0]\nimpulse = 1', "hit"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = "much"', "impulse"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = 1\nratio = -1', "ratio"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = nan', "impulse"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = 1\nsimulate = ["spien"]', "'spien'"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = 1\nsupport = ["shin.L"]', "'shin.L'"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = 1\n[bones."head"]\nspeed = 1', "speed"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = 1\n[bones."head"]\nmass = -1', "mass"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = 1\nbones = 3', "bones"),
        ('name = "x"\nhit = ["head"]\ndirection = [0, 1, 0]\nimpulse = 1\n[envelope]\nattack = "soon"', "attack"),
    ],
)
def test_wrong_files_are_refused_by_name(text, named, tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SituationError, match=named):
        situation.load(path)


def test_the_library_composes_parts_and_means():
    punch, push = situation.named("head_punch"), situation.named("head_push")
    assert punch.name == "Head, punch" and punch.hit == push.hit == ("head",)
    assert punch.impulse == pytest.approx(0.36 * 17.0) and punch.gain == 2.0 and push.contact > punch.contact
    assert punch.frequency == situation.named("chest_front").frequency  # one parameter set
    bipeds, beasts = set(library.names("biped")), set(library.names("quadruped"))
    assert len(bipeds) == 8 * 4 and len(beasts) == 4 * 4 and bipeds | beasts == set(library.names())


def test_unknown_situation_lists_the_known():
    with pytest.raises(SituationError, match="chest_back"):
        situation.named("shoulder_sideways")


def test_rotation_vectors_are_exact_near_zero_and_half_a_turn(rng):
    for size in (1e-12, 1e-6, 0.5, 3.0, np.pi - 1e-9):
        w = rng.normal(size=(20, 3))
        w *= size / np.linalg.norm(w, axis=-1, keepdims=True)
        np.testing.assert_allclose(log(exp(w)), w, rtol=1e-7, atol=1e-15)
    a, b = exp(rng.normal(size=(5, 3))), exp(rng.normal(size=(5, 3)))
    np.testing.assert_allclose(np.linalg.norm(multiply(a, b), axis=-1), 1.0, atol=1e-12)
