"""Whatever an animator writes into a file of hits gives a whole reaction, or one sentence that refuses it."""

import numpy as np
import pytest

from core import hits, strength
from core.errors import CoreError, SituationError
from core.fall import fall
from core.progress import run
from core.react import react
from core.rotation import angle
from core.situation import ENDS, presets

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import example, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

BONES = ("chest", "head", "pelvis", "upper_arm.L", "hand.R", "thigh.R", "shin.L", "foot.L")


def number(low, high):
    """Both ends as often as what is between."""
    return st.sampled_from((low, high)) | st.floats(low, high)


def curve(low, high):
    points = st.lists(st.tuples(st.integers(1, 30), number(low, high)), max_size=2, unique_by=lambda point: point[0])
    return st.tuples(number(low, high), points).map(
        lambda said: [[0.0, said[0]], *([t / 10.0, value] for t, value in sorted(said[1]))]
    )


VECTOR = st.lists(number(-1.0, 1.0), min_size=3, max_size=3)
GIVEN = st.one_of(
    number(-200.0, 200.0).map(lambda impulse: {"impulse": impulse}),
    st.sampled_from(sorted(strength.presets())).map(lambda name: {"strength": name}),
)
MEETS = st.one_of(
    st.tuples(number(0.01, 1e4), number(0.0, 30.0), number(0.0, 1.0)).map(lambda said: {"striker": list(said)}),
    number(-30.0, 30.0).map(lambda angular: {"angular": angular}),
)
BLOW = st.one_of(
    GIVEN,
    MEETS,
    st.builds(lambda strong, strike: {**strong, "strike": strike}, GIVEN | MEETS, VECTOR),
    st.builds(lambda strong, origin: {**strong, "origin": origin}, GIVEN, VECTOR),
)
CHANGES = {
    "contact": number(1e-3, 2.0),
    "along": number(-1.0, 2.0),
    "counter": number(0.0, 3.0),
    "whip": number(0.0, 3.0),
    "dip": number(0.0, 3.0),
    "shift": number(0.0, 3.0),
    "end": st.sampled_from(ENDS),
    "knock_out": number(0.02, 2.0),
    "coupled": st.booleans(),
    "influence": st.lists(number(0.0, 1.0), max_size=3),
    "tone_curve": curve(0.0, 10.0),
    "bone": st.sampled_from(BONES),
    "offset": VECTOR,
    "seed": st.integers(0, 99),
    "gain": number(0.0, 5.0),
    "envelope": st.fixed_dictionaries({"attack": number(0.0, 1.0), "sustain": number(0.0, 2.0)}),
}
ENTRY = st.builds(
    lambda situation, changes, blow: {"situation": situation, **changes, **blow},
    st.sampled_from(presets()),
    st.fixed_dictionaries({}, optional=CHANGES),
    BLOW,
)


REFUSED = (  # what is wrong, and the sentence that says so
    (
        {"impulse": 60.0, "strike": [0.0, 0.0, 0.0]},
        "hits.toml: Situation 'Chest, front': the direction has no length. Give it one that points somewhere.",
    ),
    ({"strength": "pistol", "impulse": 60.0}, "hits.toml: a hit has one strength. Give impulse or strength, not both."),
    ({"impulse": 60.0, "bone": "tail.9"}, "The rig has no bone or role 'tail.9'. Choose one of its 22 bones."),
)


def whole(actor, clip, said):
    """The reaction to entries (frame, keys)."""
    made = [(frame, hits.from_entry(entry, "hits.toml")) for frame, entry in sorted(said, key=lambda hit: hit[0])]
    first, *further = [(hit.situation, hit.hit(float(frame))) for frame, hit in made]
    knocked_out = any(situation.falls for situation, _ in (first, *further))
    return run((fall if knocked_out else react)(actor, clip, *first, further=further))


@given(st.lists(st.tuples(st.integers(10, 60), ENTRY), min_size=1, max_size=2, unique_by=lambda hit: hit[0]))
@example([(20, {"situation": "chest_front", **REFUSED[0][0]})])
@settings(max_examples=6, deadline=None, derandomize=True)
def test_hits_of_any_file_are_whole_or_refused(actor, clip, said):
    """Finite, on the clip before the first blow and, where the body comes back, from the end on."""
    try:
        reaction = whole(actor, clip, said)
    except CoreError as error:
        assert str(error).endswith("."), "a sentence"
        return
    q, p = reaction.poses(clip)
    assert np.isfinite(q).all() and np.isfinite(p).all()
    own = actor.canonical(clip)
    same = clip.times < reaction.start
    if reaction.rest is None:
        same |= clip.times >= reaction.end
        gone = reaction.footing.carried(reaction.model) if reaction.footing is not None else 1.0
        p = p - np.multiply.outer(clip.times >= reaction.end, np.multiply.outer(gone, reaction.displaced))
    assert np.degrees(angle(own[0], q))[same].max() < 1e-6
    assert np.abs(p - own[1])[same].max() < 1e-9


@pytest.mark.parametrize(("keys", "sentence"), REFUSED, ids=["direction", "strengths", "bone"])
def test_a_wrong_hit_is_refused_with_what_is_wrong_and_the_cure(actor, clip, keys, sentence):
    """Alone, and after one that is sound."""
    wrong, sound = {"situation": "chest_front", **keys}, {"situation": "chest_front", "impulse": 60.0}
    for said in ([(20, wrong)], [(20, sound), (40, wrong)]):
        with pytest.raises(SituationError) as refusal:
            whole(actor, clip, said)
        assert str(refusal.value) == sentence
