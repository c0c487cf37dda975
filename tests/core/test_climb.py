"""Stairs: contacts at their heights, and feet that are put elsewhere on the treads that the clip shows."""

from dataclasses import replace

import numpy as np
import pytest

from core import ik, stance
from core.footing import Footing
from core.forces import WorldSpring
from core.forces.world import Track
from core.reference import to_joints, to_world
from core.rotation import conjugate, multiply, rotate
from core.situation import named
from core.stage import Stage

from .figures import build
from .test_balance import climbing
from .test_react import Hit, actor_of, hit_on

UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def stairs(skeleton, rise):
    """(clip, Stance on level ground): the walk with every contact higher by `rise` [m] than the one before."""
    clip, actor = climbing(skeleton, 0.0), actor_of(skeleton)
    found = stance.read(actor, clip, clip.times[0])
    edges = [np.flatnonzero(np.diff(np.pad(1 * down, 1))).reshape(-1, 2) for down in found.down.T]
    middles = np.sort(np.concatenate([own.mean(axis=1) for own in edges]))
    t = (clip.times - clip.times[0]) * 60.0
    up = np.empty((len(t), len(edges)))
    for leg, own in enumerate(edges):
        steps = rise * np.searchsorted(middles, own.mean(axis=1))
        gaps = np.stack((own[:-1, 1], own[1:, 0]), axis=1)
        s = np.stack([np.clip((t - end) / (start - end), 0.0, 1.0) for end, start in gaps])
        climbs = np.clip((s - 0.4) / 0.6, 0.0, 1.0)
        hump = 0.02 * np.sin(np.pi * s).clip(0.0) ** 2
        up[:, leg] = steps[0] + (np.diff(steps)[:, None] * climbs**2 * (3.0 - 2.0 * climbs) + hump).sum(axis=0)
    q, p = actor.canonical(clip)
    model = actor.model(np.ones(len(actor.names), dtype=bool), actor.first("pelvis"))
    raised = p + (np.interp(t, middles, rise * np.arange(len(middles))) - 0.6 * abs(rise))[:, None, None] * UP
    joints, at = to_joints(model, q, raised)
    for leg, limb in enumerate(found.limbs):
        target = p[:, limb.end] + up[:, leg, None] * UP
        swing, lower = ik.reach(limb, q, raised, target, ik.bend(limb, q, p))
        ik.place(model, limb, q, joints, swing, lower, q[:, limb.end])
    q, p = to_world(model, joints, at)
    back = conjugate(clip.object_rotation)[:, None]
    factor = abs(clip.scale) / actor.masses.scale
    place = rotate(back, factor * p[:, actor.body] - clip.object_position[:, None]) / clip.scale
    return replace(clip, rotation=multiply(back, q[:, actor.body]), position=place), found


@pytest.mark.parametrize("rise", [0.15, -0.12])
def test_contacts_on_stairs_are_those_of_the_same_walk_on_level_ground(skeleton, rise):
    clip, level = stairs(skeleton, rise)
    found = stance.read(actor_of(skeleton), clip, clip.times[0])
    assert np.linalg.norm(found.grade) > 0.05
    assert (found.down == level.down).mean() > 0.97 and not (found.flies.any() or found.floats.any())


@pytest.mark.parametrize("way", [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)])
def test_pushed_feet_land_on_treads(skeleton, way):
    """Nothing but whole steps between a foot and the clip's, and where one is put a stride ahead, one."""
    rise = 0.32  # this walk's strides are long
    clip, _ = stairs(skeleton, rise)
    reaction = hit_on(skeleton, clip=clip, hit=Hit(13.0, impulse=60.0, direction=way))
    found, plan = reaction.footing.stance, reaction.footing.plan
    feet = plan.feet[found.down]
    assert np.linalg.norm(feet[:, :2], axis=-1).max() > 0.05 and np.abs(found.grade).max() > 0.1
    np.testing.assert_allclose(feet[:, 2] - rise * np.round(feet[:, 2] / rise), 0.0, atol=0.002)
    tread = found.treads[np.argsort(found.treads[:, 2])]
    k = int(np.argmin(np.abs(found.ankle[:, :, 2] - tread[3, 2]).min(axis=1)))
    leg = int(np.argmin(np.abs(found.ankle[k, :, 2] - tread[3, 2])))
    next_one = complex(*(tread[4] - tread[3])[:2])
    assert found.risen(k, leg, next_one) == pytest.approx(rise, abs=0.01)
    assert found.risen(k, leg, 0.3 * next_one) == 0.0


def test_on_a_slope_feet_that_a_push_takes_along_stand_and_are_led_on_it(skeleton, monkeypatch):
    """Pushed uphill a walk goes on there: the ground has risen under its feet, which are no higher off it for that."""
    clip = climbing(skeleton, np.radians(10.0))
    hit = Hit(13.0, impulse=90.0, direction=np.array((0.0, 1.0, 0.0)))
    stage = Stage(actor_of(skeleton), clip, [(named("chest_front").with_changes(end="continue"), hit)], {}, {})
    footing, free = stage.footing, []
    found, plan, own = footing.stance, footing.plan, Footing._free
    monkeypatch.setattr(Footing, "_free", lambda *given: free.append(own(*given)) or free[-1])
    poses = stage.actor.canonical(clip)
    footing.settled(stage.model, poses, clip.times, *to_joints(stage.model, *poses), np.ones(stage.model.n))
    k = np.searchsorted(found.times, clip.times).clip(1, len(found.times) - 1)
    stands = (found.swings[k] == 0.0) & (found.swings[k - 1] == 0.0) & (plan.feet[k, :, 2] > 0.01)
    assert stands.sum() > 20 and free[0][stands].max() == 0.0

    reference = stage.reference(stage.start, 300, 1.0 / 240.0)
    spring = next(force for force in stage.forces(reference) if isinstance(force, WorldSpring))
    tips = np.array([footing._tip(limb) for limb in found.limbs])
    way = spring.track.position - Track.of_clip(stage.model, reference, footing.feet, tips).position
    k = np.searchsorted(found.times, reference.times[:-1]).clip(1, len(found.times) - 1)
    stands = found.down[k] & found.down[k - 1] & (np.linalg.norm(way[..., :2], axis=-1) > 0.05)
    assert stands.sum() > 50
    assert np.abs(way[..., 2] - way[..., :2] @ found.grade)[stands].max() < 0.005
