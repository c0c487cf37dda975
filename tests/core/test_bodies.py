"""Polyhedron integrals against closed forms; bodies of made-up figures against physics and proportion."""

import dataclasses

import numpy as np
import pytest

from core import polyhedron
from core.anatomy import analyse
from core.bodies import DEPARTURE, HEIGHT, INERTIA_FLOOR, MASS, measure
from core.errors import CoreError
from core.roles import base_role
from core.rotation import rotate, to_matrix
from core.segments import DOG as DOG_PARTS
from core.segments import FRACTION

from .figures import CUBE, DOG, FACES, HUMAN, build, moved, renamed


def solid(vertices, faces):
    volume, first, second = polyhedron.moments(vertices[faces])
    return volume, *polyhedron.inertia(volume, first, second)


def test_box():
    size, shift = np.array([2.0, 3.0, 5.0]), np.array([10.0, -4.0, 7.0])
    volume, com, inertia = solid(CUBE * size + shift, FACES)
    assert volume == pytest.approx(30.0)
    np.testing.assert_allclose(com, shift + size / 2)
    np.testing.assert_allclose(inertia, np.diag(30.0 / 12.0 * ((size**2).sum() - size**2)), atol=1e-9)


def test_tetrahedron():
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    volume, com, inertia = solid(corners, faces)
    assert volume == pytest.approx(1 / 6)
    np.testing.assert_allclose(com, [0.25] * 3)
    # about the com, unit density: integral of x^2 = 1/60 - V/16, of xy = 1/120 - V/16
    xx, xy = 1 / 60 - 1 / 96, 1 / 120 - 1 / 96
    np.testing.assert_allclose(inertia, 2 * xx * np.eye(3) - xy * (1 - np.eye(3)), atol=1e-12)


def sphere(steps=96):
    u, v = np.meshgrid(
        np.linspace(0, np.pi, steps), np.linspace(0, 2 * np.pi, 2 * steps, endpoint=False), indexing="ij"
    )
    points = np.stack((np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)), axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(steps - 1), np.arange(2 * steps), indexing="ij")
    a, b = i * 2 * steps + j, i * 2 * steps + (j + 1) % (2 * steps)
    c, d = a + 2 * steps, b + 2 * steps
    return points, np.concatenate((np.stack((a, c, b), -1).reshape(-1, 3), np.stack((b, c, d), -1).reshape(-1, 3)))


def test_ellipsoid(rng):
    points, faces = sphere()
    axes = np.array([0.3, 0.5, 1.1])
    volume, com, inertia = solid(points * axes + 1.0, faces)
    assert volume == pytest.approx(4 / 3 * np.pi * axes.prod(), rel=1e-3)
    np.testing.assert_allclose(com, 1.0, atol=1e-9)
    np.testing.assert_allclose(inertia, np.diag(volume / 5 * ((axes**2).sum() - axes**2)), rtol=2e-3, atol=1e-9)


def test_a_cut_surface_is_closed_again():
    """A box without its two ends has its volume back; turned faces give it a negative sign."""
    vertices = CUBE * (1.0, 1.0, 4.0)
    ends = [t for t in range(len(FACES)) if len(set(vertices[FACES[t], 2])) == 1]
    assert len(ends) == 4
    open_box = np.delete(FACES, ends, axis=0)
    assert polyhedron.moments(polyhedron.close(open_box, vertices))[0] == pytest.approx(4.0)
    assert polyhedron.moments(polyhedron.close(open_box[:, ::-1], vertices))[0] == pytest.approx(-4.0)
    assert len(polyhedron.close(FACES, vertices)) == len(FACES)


@pytest.mark.parametrize("length, radius", [(2.0, 0.3), (0.0, 0.5), (0.1, 1.0)])
def test_capsule_against_sampling(length, radius, rng):
    reach = length / 2 + radius
    x = rng.uniform(-1, 1, (400_000, 3)) * (radius, radius, reach)
    inside = x[np.linalg.norm(x - np.clip(x, (0, 0, -length / 2), (0, 0, length / 2)), axis=1) < radius]
    cell = 8 * radius * radius * reach / len(x)
    volume, (axial, transverse) = polyhedron.capsule(length, radius)
    assert volume == pytest.approx(len(inside) * cell, rel=0.01)
    assert axial == pytest.approx((inside[:, :2] ** 2).sum() * cell, rel=0.02)
    assert transverse == pytest.approx((inside[:, 1:] ** 2).sum() * cell, rel=0.02)


FIGURES = [
    pytest.param(lambda: build(), id="bones"),
    pytest.param(lambda: build(skin=True), id="skin"),
    pytest.param(lambda: build(tails=False), id="meaningless tails"),
    pytest.param(lambda: build(DOG), id="dog"),
    pytest.param(lambda: build(DOG, skin=True), id="dog with skin"),
    pytest.param(lambda: renamed(build(skin=True)), id="nameless"),
    pytest.param(lambda: build({"Bone": (None, (0, 0, 0), (0, 0, 1))}), id="one bone"),
]


@pytest.mark.parametrize("figure", FIGURES)
def test_bodies_are_physical(figure):
    skeleton = figure()
    anatomy = analyse(skeleton)
    bodies = measure(skeleton, anatomy)
    heavy = bodies.mass > 0.0
    assert bodies.mass.sum() == pytest.approx(MASS, rel=1e-6) and np.all(bodies.mass >= 0.0)
    assert bodies.scale == pytest.approx(HEIGHT / anatomy.size)
    np.testing.assert_allclose(bodies.length, np.linalg.norm(bodies.axis, axis=1), atol=1e-12)
    for inertia in bodies.inertia[heavy]:
        a, b, c = np.linalg.eigvalsh(inertia)
        assert a > 0.0 and a + b > c * (1 - 1e-9)
    assert np.all(bodies.mass[[role in ("root", "helper") for role in anatomy.role]] == 0.0) or len(heavy) == 1
    for i in np.flatnonzero(heavy):
        if anatomy.parent[i] >= 0 and heavy[anatomy.parent[i]]:
            above = np.linalg.eigvalsh(bodies.inertia[anatomy.parent[i]]).mean()
            assert np.linalg.eigvalsh(bodies.inertia[i])[0] >= INERTIA_FLOOR * above * (1 - 1e-9)


@pytest.mark.parametrize("skin", [False, True])
def test_left_and_right_weigh_the_same_and_the_whole_hangs_in_the_middle(skin):
    skeleton = build(skin=skin)
    anatomy = analyse(skeleton)
    bodies = measure(skeleton, anatomy)
    for i, name in enumerate(skeleton.names):
        if name.endswith(".L"):
            j = skeleton.index(name[:-1] + "R")
            assert bodies.mass[i] == pytest.approx(bodies.mass[j])
            np.testing.assert_allclose(
                np.linalg.eigvalsh(bodies.inertia[i]), np.linalg.eigvalsh(bodies.inertia[j]), rtol=1e-9
            )
    com = skeleton.head * bodies.scale + rotate(skeleton.rotation, bodies.com)
    assert abs((bodies.mass @ com) @ anatomy.left) / MASS < 1e-9


def test_a_humans_parts():
    skeleton = build(skin=True)
    anatomy = analyse(skeleton)
    bodies = measure(skeleton, anatomy)
    part = {}
    for role, mass in zip(anatomy.role, bodies.mass / MASS, strict=True):
        part[base_role(role)] = part.get(base_role(role), 0.0) + mass
    assert 0.40 < part["pelvis"] + part["spine"] + part["clavicle"] < 0.62
    assert 0.05 < part["head"] + part["neck"] < 0.10
    assert 0.08 < part["upper_arm"] + part["forearm"] + part["hand"] < 0.14
    assert 0.24 < part["thigh"] + part["shin"] + part["foot"] + part["toe"] < 0.42
    assert sum(FRACTION[k] * (2 if k in ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot") else 1)
               for k in FRACTION) == pytest.approx(1.0, abs=0.001)  # fmt: skip


def test_bones_alone_give_exactly_a_humans_parts():
    skeleton = build()
    bodies = measure(skeleton, analyse(skeleton))
    assert bodies.mass[skeleton.index("thigh.L")] / bodies.mass[skeleton.index("shin.L")] == pytest.approx(
        0.1416 / 0.0433
    )


@pytest.mark.parametrize("thick", [0.2, 1.0, 1.3])
def test_a_shoulder_girdle_weighs_and_resists_as_a_humans_whatever_skin_follows_it(thick):
    """A collar bone of 0.156 kg and a blade of 0.704 kg, together 11.4 cm off the breast bone's joint (root of the mean
    square), which is 15 cm from the arm's: OpenSim's shoulder models."""
    skeleton = build(skin=True)
    skin = skeleton.skin
    for bone in (skeleton.index("clavicle.L"), skeleton.index("clavicle.R")):
        own, along = skin.owner == bone, skeleton.tail[bone] - skeleton.head[bone]
        off = skin.vertices[own] - skeleton.head[bone]
        core = np.outer(off @ along / (along @ along), along)
        skin.vertices[own] = skeleton.head[bone] + core + thick * (off - core)
    bodies, i = measure(skeleton, analyse(skeleton)), skeleton.index("clavicle.L")
    assert bodies.mass[i] == pytest.approx(0.156 + 0.704, rel=0.01)
    across = np.sort(bodies.inertia[i].diagonal())[-1] + bodies.mass[i] * bodies.com[i] @ bodies.com[i]
    assert np.sqrt(across / bodies.mass[i]) == pytest.approx(0.114 / 0.15 * bodies.length[i], rel=0.05)


def test_a_big_head_weighs_what_a_humans_does():
    """Drawn six times as big, it is rounder and slower to turn, but no heavier."""
    skeleton = build(skin=True)
    skin, head = skeleton.skin, skeleton.index("head")
    before = measure(skeleton, analyse(skeleton))
    own = skin.owner == head
    skin.vertices[own] = (skin.vertices[own] - skeleton.head[head]) * 6 + skeleton.head[head]
    bodies = measure(skeleton, analyse(skeleton))
    assert bodies.mass[head] / MASS == pytest.approx(FRACTION["head"], rel=0.03)
    assert np.trace(bodies.inertia[head]) > 10 * np.trace(before.inertia[head])


@pytest.mark.parametrize("part", ["tail", "head"])
def test_fur_hardly_weighs(part):
    """A brush of fur, six times as thick, makes neither tail nor head of a dog weigh what its volume would."""
    skeleton = build(DOG, skin=True)
    skin = skeleton.skin
    anatomy = analyse(skeleton)
    bones = [i for i, role in enumerate(anatomy.role) if base_role(role) == part]
    for bone in bones:
        own = skin.owner == bone
        skin.vertices[own] = (skin.vertices[own] - skeleton.head[bone]) * 6 + skeleton.head[bone]
    bodies = measure(skeleton, anatomy)
    assert 0.0 < bodies.mass[bones].sum() / MASS < DOG_PARTS[part] * DEPARTURE * 1.2
    legs = sum(bodies.mass[i] for i, role in enumerate(anatomy.role) if base_role(role) == "thigh")
    assert legs / MASS > 2 * DOG_PARTS["thigh"] / DEPARTURE * 0.8


def test_a_dogs_parts_add_up():
    sides = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
    assert sum(part * (2 if name in sides else 1) for name, part in DOG_PARTS.items()) == pytest.approx(1.0)


def test_the_solid_is_the_skin():
    """A thigh that is a box: centre and shape of the box, about the bone."""
    skeleton = build(skin=True)
    anatomy = analyse(skeleton)
    bodies, i = measure(skeleton, anatomy), skeleton.index("thigh.L")
    long = np.linalg.norm(np.subtract(HUMAN["thigh.L"][2], HUMAN["thigh.L"][1])) * bodies.scale
    wide = 0.15 * bodies.scale
    np.testing.assert_allclose(bodies.com[i], [0, long / 2, 0], atol=1e-9)
    box = bodies.mass[i] / 12 * np.array([long**2 + wide**2, 2 * wide**2, long**2 + wide**2])
    np.testing.assert_allclose(bodies.inertia[i], np.diag(box), atol=1e-9)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("joints", [HUMAN, DOG], ids=["human", "dog"])
@pytest.mark.parametrize("skin", [False, True])
def test_size_does_not_matter(scale, joints, skin):
    plain = build(joints, skin=skin)
    other = moved(plain, (1, 1, 0, 0), scale)
    a, b = measure(plain, analyse(plain)), measure(other, analyse(other))
    for name in ("mass", "com", "inertia", "axis", "radius", "length"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-9, rtol=1e-9, err_msg=name)
    assert a.scale == pytest.approx(b.scale * scale)


def test_seams_are_not_holes():
    """Importers split vertices at seams: the same box in loose triangles has the same mass."""
    joined = build(skin=True)
    skin = joined.skin
    loose = type(skin)(
        skin.vertices[skin.triangles].reshape(-1, 3),
        np.arange(3 * len(skin.triangles)).reshape(-1, 3),
        skin.owner[skin.triangles].reshape(-1),
    )
    split = dataclasses.replace(joined, skin=loose)
    np.testing.assert_allclose(measure(split, analyse(split)).mass, measure(joined, analyse(joined)).mass, rtol=1e-9)


@pytest.mark.parametrize("faces", [[[0, 1, 2], [0, 2, 3]], [[2, 1, 0], [3, 2, 0]]], ids=["out", "in"])
def test_a_flat_sheet_on_a_bone_has_no_volume(faces):
    """A strap or a card of hair, whichever way it faces, leaves mass and inertia to what is solid."""
    plain = build(skin=True)
    skin, bone = plain.skin, plain.index("thigh.L")
    corners = plain.head[bone] + [[0.2, 0.0, 0.0], [0.3, 0.1, 0.0], [0.3, 0.2, 0.1], [0.2, 0.1, 0.1]]
    sheet = type(skin)(
        np.concatenate((skin.vertices, corners)),
        np.concatenate((skin.triangles, len(skin.vertices) + np.array(faces))),
        np.append(skin.owner, [bone] * 4),
    )
    dressed = dataclasses.replace(plain, skin=sheet)
    want, got = measure(plain, analyse(plain)), measure(dressed, analyse(dressed))
    for name in ("mass", "com", "inertia"):
        np.testing.assert_allclose(getattr(got, name), getattr(want, name), atol=1e-9, err_msg=name)


def test_mass_overrides():
    skeleton = build(skin=True)
    anatomy = analyse(skeleton)
    plain, heavy = measure(skeleton, anatomy), measure(skeleton, anatomy, {"hand.L": 5.0})
    i = skeleton.index("hand.L")
    assert heavy.mass[i] == 5.0
    np.testing.assert_allclose(heavy.inertia[i], plain.inertia[i] * 5.0 / plain.mass[i], atol=1e-12)
    np.testing.assert_allclose(np.delete(heavy.mass, i), np.delete(plain.mass, i))
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(CoreError, match="has no mass"):
            measure(skeleton, anatomy, {"hand.L": wrong})
    with pytest.raises(CoreError, match="no bone 'nose'"):
        measure(skeleton, anatomy, {"nose": 1.0})


def test_skin_of_helpers_counts_to_the_limb_but_not_what_a_hand_holds():
    plain = build(skin=True)
    armed = build(
        skin=True,
        **{
            "twist.L": ("forearm.L", (0.5, 0.0, 1.45), (0.7, 0.0, 1.45)),
            "weapon.R": ("hand.R", (-0.8, 0.0, 1.45), (-0.8, -1.0, 1.45)),
        },
    )
    a, b = measure(plain, analyse(plain)), measure(armed, analyse(armed))
    assert b.mass[armed.index("twist.L")] == 0.0 and b.mass[armed.index("weapon.R")] == 0.0
    assert b.mass[armed.index("forearm.L")] > 1.2 * a.mass[plain.index("forearm.L")]
    assert b.mass[armed.index("hand.R")] == pytest.approx(a.mass[plain.index("hand.R")], rel=0.1)
    R = to_matrix(armed.rotation[armed.index("hand.R")])
    assert np.linalg.norm(R @ b.com[armed.index("hand.R")]) < 0.2
