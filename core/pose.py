"""Bone poses that are added by importance, and the envelope of a transition (de Heras Ciechomski 2001, 3.3 and 4.2)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from . import curve as curves
from .curve import Points
from .errors import SituationError
from .rotation import Array, angle, slerp

UNIMPORTANT, IMPORTANT, VERY_IMPORTANT = 10.0, 50.0, 400.0
LEAST = 1e-3  # [s] that a simulation lasts


@dataclass(frozen=True, eq=False)
class Pose:
    """Bone poses with their importance.

    rotation: (..., n, 4) wxyz.  translation: (..., n, 3).  weight: (..., n) importance, 0 = says nothing about the
    bone.
    """

    rotation: Array
    translation: Array
    weight: Array

    def __mul__(self, factor: ArrayLike) -> "Pose":
        """Scale the importance; the pose itself stays."""
        return Pose(self.rotation, self.translation, self.weight * np.asarray(factor, dtype=np.float64))

    __rmul__ = __mul__

    def __add__(self, other: "Pose") -> "Pose":
        """Weighted slerp on the shorter arc with t = w_r / (w_q + w_r) (3.20-3.24); the sum keeps the higher
        importance."""
        total = self.weight + other.weight
        t = np.where(total > 0.0, other.weight / np.where(total > 0.0, total, 1.0), 0.0)
        return mix(self, other, t)


def mix(a: Pose, b: Pose, t: ArrayLike) -> Pose:
    """From a (t = 0) to b (t = 1), per bone; the importance is the higher one."""
    t = np.asarray(t, dtype=np.float64)
    translation = a.translation + t[..., None] * (b.translation - a.translation)
    return Pose(slerp(a.rotation, b.rotation, t), translation, np.maximum(a.weight, b.weight))


def add(poses: list[Pose]) -> Pose:
    """Sum of any number of poses, in the order given (the sum of three is not associative)."""
    if not poses:
        raise ValueError("add: no poses")
    out = poses[0]
    for pose in poses[1:]:
        out = out + pose
    return out


def importance(rotation: Array, times: Array, lowest: float = UNIMPORTANT, highest: float = VERY_IMPORTANT) -> Array:
    """(n,) importance by motion: bones that turn most in a clip matter most; a still bone gets `lowest`.

    rotation: (T, n, 4) joint rotations.  times: (T,) [s].
    """
    speed = (angle(rotation[:-1], rotation[1:]) / np.diff(times)[:, None]).mean(axis=0)
    top = float(speed.max(initial=0.0))
    return lowest + (highest - lowest) * (speed / top if top > 1e-9 else np.zeros_like(speed))


@dataclass(frozen=True)
class Envelope:
    """How much of a reaction is seen over time [s]: cosine attack, sustain, cosine relaxation.

    mode "continue": the body is simulated all the while.  "hold": it is simulated for `simulation` seconds, the pose
    reached is held while the envelope runs (the document's way).
    curve: (time, weight) points instead of attack, sustain and relaxation, ending with weight 0; () = none.
    """

    attack: float = 0.0
    sustain: float = 1.2
    relaxation: float = 1.5
    mode: Literal["continue", "hold"] = "continue"
    simulation: float = 0.15
    curve: Points = ()

    def __post_init__(self) -> None:
        for name in ("attack", "sustain", "relaxation", "simulation"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise SituationError(f"The envelope's {name} is {value} s. Give it 0 s or more.")
        if self.mode not in ("continue", "hold"):
            raise SituationError(f"The envelope's mode '{self.mode}' is unknown. Use 'continue' or 'hold'.")
        curves.check(self.curve, "The envelope", 1.0)
        if self.curve and (self.curve[-1][1] != 0.0 or len(self.curve) < 2):
            raise SituationError("The envelope's curve does not end at 0. Let its last point be [seconds, 0].")
        if self.duration < LEAST:
            raise SituationError("The envelope has no length. Give attack, sustain or relaxation more than 0 s.")
        if self.mode == "hold" and self.simulation < LEAST:
            raise SituationError(f"The pose is held after {self.simulation:g} s. Simulate for {LEAST:g} s or more.")

    @property
    def duration(self) -> float:
        """Attack, sustain and relaxation together, or of the curve [s]."""
        if self.curve:
            return self.curve[-1][0]
        return self.attack + self.sustain + self.relaxation

    def __call__(self, t: ArrayLike) -> Array:
        """Weight 0..1 at the time t since the start [s]; 0 outside; (1 - cos u) / 2 ramps."""
        t = np.asarray(t, dtype=np.float64)
        if self.curve:
            return np.where(t >= 0.0, curves.at(self.curve, t), 0.0)
        up = np.clip(t / self.attack, 0.0, 1.0) if self.attack > 0.0 else np.where(t >= 0.0, 1.0, 0.0)
        left = self.duration - t
        down = np.clip(left / self.relaxation, 0.0, 1.0) if self.relaxation > 0.0 else np.where(left > 0.0, 1.0, 0.0)
        inside = (t >= 0.0) & (left >= 0.0)
        return np.where(inside, 0.25 * (1.0 - np.cos(np.pi * up)) * (1.0 - np.cos(np.pi * down)), 0.0)
