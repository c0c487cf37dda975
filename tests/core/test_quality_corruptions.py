"""Broken motion made from good motion of a made-up human: visible, seeded, and called bad.

The tables over real characters are in docs/quality_tables.md (tools/quality/table.py makes them from clips of artists).
"""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.quality import judge, thresholds, thresholds_added
from core.rotation import angle
from tools.quality import corpus, corruptions, derive
from tools.quality.cases import Case, canonical

from .figures import build
from .test_quality import blow_of, reaction
from .test_react import actor_of, clip_of

KINDS = {kind.name: kind for kind in corruptions.KINDS}
FROZEN = "2ade3ee83ff0165b6cba466abe0a9475542f1d7ae6c189995e70d5628473f672"  # thresholds.py at 0a6f469
SHORT = {"too_slow": 8.0}


@pytest.fixture(scope="module")
def cases():
    """{"walk": a clip against itself, "hit": a reaction, ...} of one figure."""
    actor = actor_of(build(skin=True))
    out = {}
    for name, seconds in (("", 4.0), (" long", 10.0)):
        clip = clip_of(actor.skeleton, fps=60.0, seconds=seconds, start=0.0)
        out["walk" + name] = Case("walk", "human", "walk", actor, clip, clip)
        out["hit" + name] = Case("hit", "human", "hit", actor, reaction(actor, clip, 1.5), clip, blow_of(actor, clip))
    return out


def graded(case):
    return judge(case.actor, case.motion, case.clip, case.blow)


def test_there_are_enough():
    assert len(KINDS) == len(corruptions.KINDS) >= 14
    assert all(len(kind.sizes) == 3 for kind in corruptions.KINDS)


def test_what_is_broken_was_not_bad_before(cases):
    assert graded(cases["walk"]).grade == "good"
    verdict = graded(cases["hit"])
    assert verdict.grade != "bad", [(f.name, f.value) for f in verdict.failed()]


@pytest.mark.parametrize("name", KINDS)
def test_full_strength_is_bad(cases, name):
    kind = KINDS[name]
    base = cases[("hit" if kind.hit else "walk") + (" long" if name in SHORT else "")]
    bad = corruptions.corrupt(base, kind, 2, seed=5)
    assert bad is not None
    assert graded(bad).grade == "bad"


@pytest.mark.parametrize("name", KINDS)
def test_seeded_and_stronger_is_more(cases, name):
    """The same seed gives the same motion, and the strengths grow away from the original."""
    kind = KINDS[name]
    base = cases[("hit" if kind.hit else "walk") + (" long" if name in SHORT else "")]
    twice = [corruptions.corrupt(base, kind, 1, seed=3).motion for _ in range(2)]
    assert np.array_equal(twice[0].rotation, twice[1].rotation)
    assert np.array_equal(twice[0].position, twice[1].position)
    middle, full = (corruptions.corrupt(base, kind, strength, seed=3).motion for strength in (1, 2))
    size = [away(base.motion, motion) for motion in (middle, full)]
    assert min(size) > 0.0
    assert size[1] > 0.99 * size[0] or name == "spun"  # 340 degrees are 20 the other way


def away(one, other):
    """Largest turn [rad] and displacement [m] of any bone between two clips, added."""
    turn = float(angle(one.rotation, other.rotation).max())
    return turn + float(np.linalg.norm(one.position - other.position, axis=-1).max())


def test_kinds_of_hits_need_a_hit(cases):
    assert corruptions.corrupt(cases["walk"], KINDS["faint"], 1, 0) is None


def test_what_nobody_sees_is_no_corruption(cases):
    nothing = corruptions.Kind(corruptions.floating, (0.1, 0.1, 0.1))
    assert corruptions.corrupt(cases["walk"], nothing, 1, 0) is None


def test_what_only_helpers_and_fingers_show_is_no_corruption():
    actor = actor_of(build(skin=True, jaw=("head", (0.0, -0.02, 1.6), (0.0, -0.1, 1.58))))
    clip = clip_of(actor.skeleton, fps=60.0, start=0.0)
    case = Case("walk", "human", "walk", actor, clip, clip)

    def turned(name):
        def make(work, size):
            return work.turned(actor.first(name), np.radians(size) * work.bump(0.5)[:, None] * [1.0, 0.0, 0.0])

        return corruptions.corrupt(case, corruptions.Kind(make, (40.0, 40.0, 40.0)), 1, 0)

    assert turned("jaw") is None
    assert turned("head") is not None


def test_sides_that_do_the_same_are_not_swapped(cases):
    case = cases["walk"]
    assert corruptions.corrupt(case, KINDS["swapped"], 2, 0) is not None
    rest = case.actor.skeleton
    still = replace(case.clip, rotation=0.0 * case.clip.rotation + rest.rotation,
                    position=0.0 * case.clip.position + rest.head)  # fmt: skip
    assert corruptions.corrupt(replace(case, motion=still, clip=still), KINDS["swapped"], 2, 0) is None


def test_the_frozen_file_is_that_of_the_freeze():
    text = Path(thresholds.__file__).read_text(encoding="utf-8")
    assert hashlib.sha256(text.encode()).hexdigest() == FROZEN


def test_added_checks_answer_only_for_their_kind():
    """Lines of an added check come from the kind it was added for; the frozen file lacks them."""
    for name, kind in derive.ADDED.items():
        assert kind in KINDS
        assert name in thresholds_added.LIMITS["beyond"]
    assert not set(derive.ADDED) & set(thresholds.LIMITS["beyond"])
    assert all(set(table) <= set(derive.ADDED) for table in thresholds_added.LIMITS.values())


def test_canonical_goes_both_ways(cases):
    case = cases["walk"]
    back = canonical(case.actor, case.motion, *case.actor.canonical(case.motion))
    assert np.abs(back.position - case.motion.position).max() < 1e-12
    assert angle(back.rotation, case.motion.rotation).max() < 1e-7


class TestHalves:
    def test_every_clip_is_in_one_half(self):
        seen, held = corpus.halves()
        names = [source.name for source in (*seen, *held)]
        assert sorted(names) == sorted(source.name for source in corpus.SOURCES)
        assert not {source.name for source in seen} & {source.name for source in held}

    def test_halves_are_halves_of_every_kind(self):
        seen, held = corpus.halves()
        for kind in ("hit", "walk", "run", "idle"):
            counts = [sum(s.kind == kind and not s.extra for s in half) for half in (seen, held)]
            assert abs(counts[0] - counts[1]) <= 1

    def test_characters_that_no_threshold_saw(self):
        seen, _ = corpus.halves()
        assert not {s.character for s in seen} & {"fox", "robot", "cesium", "trex", "apatosaurus", "spider"}
        assert not {s.name for s in corpus.RESERVE} & {s.name for s in corpus.SOURCES}
