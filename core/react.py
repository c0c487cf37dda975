"""A reaction: the body of a clip takes blows and finds back to it.

`react` is a generator (progress 0..1 per yield) that returns a `Reaction`; the host drives it and may drop it.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from . import emphasis, flight, hinges, tuning
from .actor import Actor
from .blows import Hit, episodes, shown
from .curve import later
from .drive import Stretch, Watch, drive, joined
from .dynamics import forward, forward_light
from .hanging import hang
from .pace import ASLEEP, FRESH, Pace
from .progress import portion
from .reaction import Reaction, together
from .reference import to_world
from .rotation import Array, conjugate, log, multiply, to_matrix, unwound
from .simulate import Forward
from .situation import Situation
from .skeleton import Clip
from .stage import UNCAUGHT, Stage

__all__ = ["Hit", "react"]


def react(
    actor: Actor,
    clip: Clip,
    situation: Situation,
    hit: Hit,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    fixed: Mapping[str, str] | None = None,
    further: Sequence[tuple[Situation, Hit]] = (),
    watch: Watch | None = None,
) -> Generator[float, None, Reaction]:
    """Simulate a hit, and further ones with it, on a clip that lasts at least as long as the reaction.

    settings: what the user says about single bones: by bone name, fields of `BoneSetting`; curves count from the first
    hit on.
    fixed: bones that something else owns (a constraint, a driver), by bone name, with the owner, "" where it is
    only that nothing moves them; a simulated bone among them is refused, a supporting one left to the clip.
    Hits that land when nothing shows any more of those before are solved by themselves (`blows.episodes`).
    Where a body turns too far in a sub-step, or a joint too suddenly, sub-steps are done again with half of it.
    watch: sees every stretch that counts, e.g. a `diagnosis.Log`.
    Where what is left will not be seen the simulation ends, and the envelope fades it.
    """
    stages: list[Stage] = []
    for group in episodes([(situation, hit), *further], clip.fps):
        before = stages[-1].blows[-1].start if stages else None
        gone = group[0][1].frame / clip.fps - stages[0].start if stages else 0.0
        own = {bone: {key: later(v, gone) for key, v in said.items()} for bone, said in (settings or {}).items()}
        stages.append(Stage(actor, clip, group, own, fixed or {}, before))
    made, part = [], 1.0 / len(stages)
    for k, stage in enumerate(stages):
        reaction = yield from portion(_solve(stage, watch), k * part, 0.5 * part if stage.holds else part)
        if stage.holds:
            steps = hang(stage, clip, reaction.deviation, watch)
            hung = yield from portion(steps, (k + 0.5) * part, 0.5 * part)
            reaction = replace(reaction, hung=hung, moving=reaction.moving | (hung is not None and hung.bodies))
        made.append(reaction)
    return made[0] if len(made) == 1 else together(made)


def _solve(stage: Stage, watch: Watch | None) -> Generator[float, None, Reaction]:
    """Simulate hits that overlap."""
    end = max(blow.simulated for blow in stage.blows)

    def asleep(last: Stretch, halvings: int) -> bool:
        landed = last.reference.times[-1] > stage.blows[-1].start + FRESH
        return landed and halvings < stage.finer and _asleep(stage, last, end)

    pace = Pace.returning(stage.blows, stage.finer, stage.footing is not None)
    solver = forward if stage.situation.coupled else forward_light
    parts = yield from _flown(stage, pace, solver, end, watch)
    parts = yield from drive(stage, end, pace, solver, asleep, watch, parts)
    return _reaction(stage, parts)


def _flown(
    stage: Stage, pace: Pace, solver: Forward, end: float, watch: Watch | None
) -> Generator[float, None, list[Stretch]]:
    """Simulate up to the last flight in which a blow lands, and plan each landing by what it shows."""
    parts: list[Stretch] = []
    if stage.footing is None:
        return parts
    known = np.zeros((len(stage.blows), len(stage.footing.stance.times), 2))
    for each in flight.flights(stage.footing, stage.blows, end):
        steps = drive(stage, each.seen, pace, solver, lambda *_: False, watch, parts)
        parts = yield from portion(steps, 0.0, (each.seen - stage.start) / (end - stage.start))
        known = flight.behind(stage, each, parts[-1], known)
        stage.footing = stage.planned(known)
    return parts


def _asleep(stage: Stage, last: Stretch, end: float) -> bool:
    """Whether as much as deviates in the last stretch would not be seen from there to the end [s]."""
    ahead = float(shown(stage.blows, np.linspace(last.reference.times[-1], end, 24)).max())
    turn, travel = _deviation(stage, [last])
    sizes = (float(np.linalg.norm(d, axis=-1).max()) for d in (turn, travel))
    return all(ahead * size < least for size, least in zip(sizes, ASLEEP, strict=True))


def _deviation(stage: Stage, parts: list[Stretch]) -> tuple[Array, Array]:
    """Turn and travel off the clip as in `Reaction`, over stretches that follow each other."""
    states = [parts[0].runs[0].state, *(run.state for part in parts for run in part.runs[1:])]
    clip, moving, base = [part.reference for part in parts], np.flatnonzero(stage.moving), stage.base
    turn, travel = np.zeros((2, len(states), stage.model.n, 3))
    own = joined([each.rotation[:, moving] for each in clip])
    turn[:, moving] = log(multiply(conjugate(own), np.stack([state.rotation[moving] for state in states])))
    if base >= 0:
        own = joined([each.position[:, base] for each in clip])
        travel[:, base] = np.stack([state.position[base] for state in states]) - own
    if stage.footing is not None:
        travel[:, base] -= joined([stage.footing.led(stage.model, each) for each in clip])
    return turn, travel


def _reaction(stage: Stage, parts: list[Stretch]) -> Reaction:
    """Deviations of the whole run from the clip."""
    turn, travel = _deviation(stage, parts)
    times = joined([part.reference.times for part in parts])
    shows = [tuning.influence(stage.actor, blow.situation, blow.struck) for blow in stage.blows]
    return Reaction(
        actor=stage.actor,
        model=stage.model,
        blows=tuple(stage.blows),
        given=stage.given,
        weights=np.array([s.weight for s in stage.settings]) * np.max(shows, axis=0),
        times=times,
        turn=_emphasised(stage, parts, times, unwound(turn)),
        travel=emphasis.shifted(travel, stage.blows, times, stage.footing is not None),
        moving=stage.moving,
        footing=stage.footing,
        substeps=sum(len(s.runs) - 1 for s in parts),
        warnings=(*stage.warnings, *([UNCAUGHT] if stage.footing is not None and stage.footing.fell else [])),
    )


def _emphasised(stage: Stage, parts: list[Stretch], times: Array, turn: Array) -> Array:
    """The turns with the artist's gains on them."""
    standing = [] if stage.footing is None else stage.footing.feet.tolist()
    factor = emphasis.gains(stage.actor, stage.blows, times, standing)
    if factor is None:
        return turn
    rotation, position = (joined([getattr(part.reference, n) for part in parts]) for n in ("rotation", "position"))
    q, p = to_world(stage.model, rotation, position)
    flexion = hinges.bend(stage.actor, stage.hinges, to_matrix(q), p)
    room = emphasis.Room.of(stage.ends, stage.balls, stage.hinges, flexion, stage.model.n)
    return emphasis.scaled(turn, factor, room)
