"""The tapping finger: stable in steps of 0.01 s, settles where torques balance weight, taps, every tap alike."""

import numpy as np
import pytest

from .chains import GRAVITY
from .finger import BASE_MASS, DT, EVERY, HIGH, LENGTH, MASS, SPIKE, STIFFNESS, TIP_MASS, finger


@pytest.fixture(scope="module")
def tapping():
    return finger()


def at(run, t):
    return round(t / (run.times[1] - run.times[0]))


def test_it_is_as_long_as_theirs_and_stable(tapping):
    print(f"8 s of animation in {tapping.seconds:.2f} s (SUN 604 s, VAX 89 s): {89 / tapping.seconds:.0f} x the VAX")
    assert tapping.steps == 800 and tapping.times[1] == DT
    assert all(np.all(np.isfinite(x)) for x in (tapping.tip, tapping.bend))
    assert np.abs(np.diff(tapping.tip, axis=0)).max() < 5.0 * DT  # nothing faster than 5 m/s
    assert np.degrees(np.abs(tapping.bend)).max() < 60.0


def test_it_settles_in_two_seconds_where_torques_carry_the_weight(tapping):
    """Each hinge's torque function against the weight beyond it: statics, worked out from the geometry alone."""
    before = tapping.tip[at(tapping, 1.5) : at(tapping, EVERY)]
    assert np.abs(before - before[-1]).max() < 2e-5
    k = at(tapping, EVERY) - 1
    run = np.concatenate(
        ([0.0], np.cumsum(LENGTH * np.cos(tapping.slope[k, 1:])))
    )  # hinges and tip, along x from the base
    centre = 0.5 * (run[:-1] + run[1:])
    for i in range(3):
        weight = 9.81 * (MASS * (centre[i:] - run[i]).sum() + TIP_MASS * (run[3] - run[i]))
        zone = 0.5 * HIGH[i]
        past = tapping.bend[k, i] - zone
        assert past > 0.0
        assert STIFFNESS[i] * past**2 / (2.0 * zone) == pytest.approx(weight, rel=1e-3)


def test_the_heavy_base_stays(tapping):
    """It sags once by what holds it, then a tap of the finger moves it by less than a millimetre."""
    base = tapping.base[at(tapping, 1.5) :]
    assert np.abs(base - base[0]).max() < 1e-3
    total = BASE_MASS + 3 * MASS + TIP_MASS
    sag = total * GRAVITY[2] / (BASE_MASS * (2 * np.pi * 10.0) ** 2)
    assert base[0, 2] - tapping.base[0, 2] == pytest.approx(sag, rel=1e-3)


def test_it_taps_alike_and_comes_back(tapping):
    taps = [tapping.tip[at(tapping, t) : at(tapping, t + EVERY)] for t in (2.0, 4.0, 6.0)]
    rest = taps[0][0]
    down = rest[2] - taps[0][: at(tapping, 2 * SPIKE), 2].min()
    print(f"tap of {1000 * down:.1f} mm")
    assert down > 0.008
    assert all(np.abs(tap - taps[0]).max() < 1e-4 for tap in taps)
    assert np.abs(taps[2] - taps[1]).max() < 1e-5
    assert all(np.abs(tap[-1] - rest).max() < 2e-5 for tap in taps)
    assert np.abs(tapping.tip[:, 1]).max() < 1e-9  # it taps in its plane


def test_finer_steps_tap_as_well(tapping):
    """A quarter of the step: the same rest to a hundredth of a millimetre, a tap as deep within a fifth."""
    fine = finger(dt=DT / 4)
    rests = [r.tip[at(r, 3.99)] for r in (tapping, fine)]
    assert np.abs(rests[0] - rests[1]).max() < 1e-5
    depths = [rest[2] - r.tip[:, 2].min() for r, rest in zip((tapping, fine), rests, strict=True)]
    assert depths[0] == pytest.approx(depths[1], rel=0.2)


def test_slow_band_every_other_step(tapping):
    """Section 4 with v = 2, as they ran it: the same rest, a tap as deep within a fifth; times are printed."""
    banded = finger(refresh=2)
    print(f"slow band every step {tapping.seconds:.2f} s, every other step {banded.seconds:.2f} s (VAX 89 and 56.6 s)")
    k = at(tapping, 3.99)
    assert np.abs(banded.tip[k] - tapping.tip[k]).max() < 1e-5
    depths = [r.tip[k, 2] - r.tip[:, 2].min() for r in (tapping, banded)]
    assert depths[1] == pytest.approx(depths[0], rel=0.2)
    assert np.abs(banded.tip - tapping.tip).max() > 1e-6  # it is another computation
