"""Arms that hang on a pose which is held.

The document holds the pose in which his bones arrive while the envelope runs (de Heras Ciechomski 2001, 5.1); what is
not simulated goes along rigidly.  He names the penetration that this makes as a wish (ch. 6): an arm that goes with a
bent trunk meets the thighs that walk on.  So arms are simulated on that pose, as what they are: flesh that lies on
flesh, carried by muscles that know the clip's pose, not the bent trunk's.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .actor import Actor
from .blows import Hit
from .drive import Watch, drive, joined
from .dynamics import forward
from .forces import Force, Muscle, weight
from .forces.world import motions
from .model import State
from .pace import Pace
from .reference import Reference, along, to_joints
from .resample import Poses, hermite
from .rotation import Array, angle, conjugate, exp, log, multiply, unwound
from .simulate import Run
from .situation import Situation
from .skeleton import Clip
from .stage import Stage
from .support import smooth

CLOSES = 0.3  # [s] at the end in which the last of their turns fades; chosen by eye

Deviation = Callable[[Array], tuple[Array, Array]]  # turn and travel (T, n, 3) at times (T,), as of a `Reaction`


@dataclass(frozen=True, eq=False)
class Hung:
    """times: (K,) [s].  turn: (K, n, 3) of joints, on the right of what they follow, zero at both ends."""

    times: Array
    turn: Array

    @property
    def bodies(self) -> np.ndarray:
        """(n,) bool, those that hang."""
        return np.asarray(self.turn.any(axis=(0, 2)))

    def turned(self, times: Array) -> Array:
        """(T, n, 3) at any times [s]."""
        return hermite(self.times, self.turn, np.clip(times, self.times[0], self.times[-1]))

    def peaks(self, deviation: Deviation, weights: Array) -> Array:
        """(n,) [rad] largest turns off the clip, of weights (n,) of them, with what leads them off it."""
        led, besides = deviation(self.times)[0], weights[:, None] * self.turn
        return np.asarray(angle(conjugate(exp(led)), exp(besides)).max(axis=0))


class Hanging(Stage):
    """The stage on which arms (n,) bool hang on bodies that are led off the clip by the deviation."""

    def __init__(
        self,
        actor: Actor,
        clip: Clip,
        hits: Sequence[tuple[Situation, Hit]],
        settings: Mapping[str, Mapping[str, Any]],
        arms: np.ndarray,
        deviation: Deviation,
        swings: Array,
    ) -> None:
        self.arms, self.deviation, self.swings = arms, deviation, swings
        unhurt = [(s.with_changes(drive="velocities", tone=1.0, tone_curve=()), hit) for s, hit in hits]
        super().__init__(actor, clip, unhurt, settings, {})
        self.own = Poses.of(self.samples, *to_joints(self.model, *actor.canonical(clip)))

    def _cast(self, fixed: Mapping[str, str]) -> tuple[np.ndarray, int]:
        return self.arms, -1

    @property
    def posed(self) -> bool:
        """Not here: whatever their axes were, arms give way all round."""
        return False

    @property
    def holds(self) -> bool:
        """Not here: nothing hangs on arms."""
        return False

    def _tension(self) -> Array:
        """What the clip swings; not what the blow makes of it."""
        return self.swings

    def followed(self, samples: Array, rotation: Array, position: Array) -> tuple[Array, tuple[Array, Array]]:
        """The clip with what leads the other bodies off it."""
        turn, travel = self.deviation(samples)
        return samples, (multiply(rotation, exp(turn)), position + travel)

    def forces(self, reference: Reference) -> list[Force]:
        """Muscles with the clip's weight, limits, and flesh that gives as in the clip: not as in the pose followed."""
        start, h = float(reference.times[0]), float(reference.lengths[0])
        clip = along(self.own, start, reference.steps, h, reference.before)
        kin, _ = motions(self.model, clip)
        out = super().forces(reference)
        borne = -weight(self.model, kin, self.actor.gravity)
        out = [replace(force, borne=borne) if isinstance(force, Muscle) else force for force in out]
        return out if self.flesh is None else [*out[:-1], self.flesh.of_clip(kin)]

    def kicked(self, state: State, time: float, reference: Reference) -> State:
        """As it is: the blow is in what they hang on."""
        return state


def hang(
    stage: Stage, clip: Clip, deviation: Deviation, watch: Watch | None = None
) -> Generator[float, None, Hung | None]:
    """Simulate the arms on what a stage's simulation holds, to the end; None where no arm hangs.

    watch: sees every stretch, as `react`'s does.
    """
    if not stage.hanging.any():
        return None
    hits = [(blow.situation, blow.hit) for blow in stage.blows]
    stage = Hanging(stage.actor, clip, hits, stage.user, stage.hanging, deviation, stage.tense)
    end = max(blow.end for blow in stage.blows)
    pace = Pace.returning(stage.blows, stage.finer, planted=False)
    parts = yield from drive(stage, end, pace, forward, lambda *_: False, watch)
    turns = [log(multiply(conjugate(part.reference.rotation), _rotations(part.runs))) for part in parts]
    times = joined([part.reference.times for part in parts])
    turn = unwound(joined(turns)) * smooth((end - times) / CLOSES)[:, None, None]
    turn[:, ~stage.moving] = 0.0
    return Hung(times, turn)


def _rotations(runs: Sequence[Run]) -> Array:
    return np.stack([run.state.rotation for run in runs])
