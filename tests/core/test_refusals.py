"""What no simulation can be made of is told in one sentence that names the setting; nothing becomes NaN in silence."""

import pickle

import numpy as np
import pytest

from core import integrators, shapes
from core.blows import Hit
from core.dynamics import forward_dense, forward_light, forward_tree
from core.errors import CoreError, ModelError, SimulationError, SituationError
from core.forces import (
    Air,
    Capsules,
    Contacts,
    DryFriction,
    Field,
    Ground,
    HingeFriction,
    JointSpring,
    Law,
    Limit,
    Pulse,
    Release,
    Striker,
    SwingTwist,
    Viscous,
    Wrench,
)
from core.model import FIXED, FREE, Model, State, planar, prismatic, revolute
from core.reference import build
from core.rotation import exp, multiply
from core.simulate import Run, simulate
from core.spatial import inertia

from .test_simulate import last, muscle
from .trees import motion, tree

GRAVITY = np.array([0.0, 0.0, -9.81])
STEPS, H = 10, 1 / 120
TWO = np.array([1, 2])
NAN, INF = float("nan"), float("inf")
ONES, ZERO = np.ones((2, 3)), np.zeros(3)


class Scene:
    """A tree of four bodies and a clip of it."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.model = tree(rng, 4, free=True, kinds=("spherical",))
        self.times = np.arange(0.0, 1.0, 1 / 24)
        self.rotation, self.position = motion(rng, self.model, self.times)
        self.reference = self.build()

    def build(self, **changes):
        own = {"samples": self.times, "rotation": self.rotation, "position": self.position}
        return build(**{**own, "start": 0.2, "steps": STEPS, "h": H, **changes})

    def start(self, batch=(), k=0, **changes):
        """A run whose joints are turned off the clip by 0.3 rad."""
        clip = self.reference.state(0)
        off = {"rotation": multiply(clip.rotation, exp(np.tile([0.3, 0.0, 0.0], (4, 1))))}
        own = {"position": clip.position, "twist": clip.twist, **off, **changes}
        return Run(k, State(**{name: np.array(np.broadcast_to(x, batch + x.shape)) for name, x in own.items()}))

    def run(self, *forces, gravity=GRAVITY, **changes):
        own = {"model": self.model, "reference": self.reference, "start": self.start(), **changes}
        return last(simulate(forces=forces, gravity=gravity, **own))


@pytest.fixture(scope="module")
def scene():
    return Scene()


def is_finite(state):
    return all(np.isfinite(x).all() for x in (state.rotation, state.position, state.twist))


@pytest.mark.parametrize("make", [revolute, prismatic, planar])
def test_axes_of_joints_are_of_any_length_but_none(make):
    for wrong in ([0, 0, 0], [NAN, 0, 1], [INF, 0, 0], [1, 0], [[1, 0, 0]]):
        with pytest.raises(ValueError, match="axis: expected"):
            make(wrong)
    for size in (1, 1e-200, 1e200):
        np.testing.assert_allclose(make([0, size, 0]), make([0, 1, 0]))


def test_bodies_are_given_as_lists_and_as_numbers_of_any_kind(scene):
    """All that numpy reads: the motion is that of doubles, of single numbers as far as these go."""
    model = scene.model
    want = scene.run().state.rotation
    told = (list(model.names), model.parent.tolist(), [joint.tolist() for joint in model.joints])
    same = Model(*told, model.inertia.tolist())
    np.testing.assert_array_equal(scene.run(model=same).state.rotation, want)
    single = Model(model.names, model.parent.astype(np.int8), model.joints, model.inertia.astype(np.float32))
    np.testing.assert_allclose(scene.run(model=single).state.rotation, want, atol=1e-5)
    for array in (model.inertia, scene.reference.rotation):
        array.setflags(write=False)
    assert is_finite(scene.run(muscle(model, scene.reference, 1.0), gravity=[0, 0, -10]).state)


BUILDS = {
    "descending": {"samples": lambda s: s.times[::-1]},
    "twice": {"samples": lambda s: np.where(np.arange(24) == 5, s.times[4], s.times)},
    "no time": {"samples": lambda s: np.where(np.arange(24) == 5, NAN, s.times)},
    "one": {
        "samples": lambda s: s.times[:1],
        **{x: lambda s, x=x: getattr(s, x)[:1] for x in ("rotation", "position")},
    },
    "fewer": {"rotation": lambda s: s.rotation[:5]},
    "no turn": {"rotation": lambda s: np.where(np.arange(24)[:, None, None] == 6, 0.0, s.rotation)},
    "no rotation": {"rotation": lambda s: np.where(np.arange(24)[:, None, None] == 6, NAN, s.rotation)},
    "no place": {"position": lambda s: np.where(np.arange(24)[:, None, None] == 6, INF, s.position)},
    **{f"h {h}": {"h": h} for h in (0.0, -0.01, NAN, INF)},
    "steps": {"steps": -1},
    "start": {"start": NAN},
}


@pytest.mark.parametrize("said", BUILDS.values(), ids=BUILDS)
def test_clips_that_are_none_are_refused(scene, said):
    """A sample that had no numbers had become no turn at all."""
    with pytest.raises(ValueError, match=r"A clip|Sub-steps"):
        scene.build(**{name: x(scene) if callable(x) else x for name, x in said.items()})


def test_clips_are_lists_too_and_their_quaternions_of_any_length(scene):
    listed = scene.build(samples=scene.times.tolist(), rotation=(3.0 * scene.rotation).tolist())
    np.testing.assert_allclose(listed.rotation, scene.reference.rotation, atol=1e-14)
    assert scene.build(steps=0).steps == 0


STARTS = {
    "rotation": [2.0, 0.0, NAN],
    "position": [NAN, INF],
    "twist": [NAN, INF],
}


@pytest.mark.parametrize(("name", "factor"), [(name, x) for name, all_ in STARTS.items() for x in all_])
def test_states_that_are_none_are_refused_by_bone(scene, name, factor):
    value = getattr(scene.reference.state(0), name).copy()
    value[2] = factor * value[2] if name == "rotation" else factor
    with pytest.raises(ValueError, match=rf"State.{name}: .* 'b2'"):
        scene.run(start=scene.start(**{name: value}))


def test_runs_that_lead_nowhere_are_refused(scene):
    state = scene.reference.state(0)
    short = build(scene.times, scene.rotation[:, :3], scene.position[:, :3], 0.2, STEPS, H)
    wrong = [
        ({"gravity": [0, 0, NAN]}, "Gravity"),
        ({"gravity": -9.81}, "Gravity"),
        ({"gravity": [0, -9.81]}, "Gravity"),
        ({"refresh": 0}, "refresh"),
        ({"refresh": 1.5}, "refresh"),
        ({"reference": short}, "model of 4 bodies"),
        ({"start": scene.start(k=99)}, "step 99 of a clip of 10"),
        ({"start": scene.start(k=-1)}, "step -1"),
        ({"start": scene.start(twist=state.twist[:, :3])}, "State.twist: expected shape"),
        ({"start": scene.start((0,))}, "one system at least"),
        ({"start": scene.start((2, 0))}, "one system at least"),
    ]
    for changes, told in wrong:
        with pytest.raises(ValueError, match=told):
            scene.run(**changes)


@pytest.mark.parametrize("batch", [(1,), (3, 1)])
def test_batches_of_one_are_as_one(scene, batch):
    forces = muscle(scene.model, scene.reference, 1.0), Pulse(2, ZERO, np.array([1.0, 0, 0]), 0.2, 0.05)
    for solver in (forward_dense, forward_tree, forward_light):
        many, one = (scene.run(*forces, start=scene.start(b), solver=solver) for b in (batch, ()))
        np.testing.assert_allclose(many.state.rotation, np.broadcast_to(one.state.rotation, (*batch, 4, 4)), atol=1e-12)


def limit(**changes):
    own = {"axis": np.zeros((2, 3)), "low": np.full((STEPS, 2), -0.1), "high": np.full((STEPS, 2), 0.1), "soft": 0.5}
    return Limit(**{"bodies": TWO, **own, "stiffness": np.ones(2), "damping": np.ones(2), **changes})


def swing_twist(**changes):
    own = {"frame": np.tile(np.eye(3), (2, 1, 1)), "swing": np.full((2, 2), 0.1), "twist": np.tile([-0.1, 0.1], (2, 1))}
    own |= {"bodies": TWO, "soft": 0.5, "stiffness": np.ones((2, 2)), "damping": np.ones((2, 2))}
    return SwingTwist(**{**own, **changes})


def ground(**changes):
    return Ground(**{"bodies": TWO, "points": np.zeros((2, 3)), "radius": np.full(2, 0.1), **changes})


def striker(**changes):
    return Striker(**{"body": 1, "point": ZERO, "mass": 1.0, "velocity": np.ones(3), "time": 0.22, **changes})


SETTINGS = {
    "Law": [{"stiffness": x * ONES} for x in (NAN, -1.0, INF)]
    + [{"damping": -ONES}, {"ceiling": np.full(2, NAN)}, {"ceiling": -np.ones(2)}, {"exponent": NAN}, {"valley": 0.0}],
    "Release": [{"low": 1.0, "high": 1.0}, {"high": INF}, {"low": NAN}, {"power": 0.0}],
    "Viscous": [{"damping": np.array([x, 1.0])} for x in (NAN, -1.0, INF)],
    "DryFriction": [{"torque": np.full((STEPS, 2), NAN)}, {"creep": 0.0}, {"creep": -1.0}, {"creep": NAN}],
    "HingeFriction": [{"torque": np.array([x, 1.0])} for x in (NAN, -1.0)],
    "Pulse": [{"start": NAN}, {"duration": 0.0}, {"duration": NAN}, {"duration": INF}],
    "Wrench": [{"wrench": np.full((2, 6), NAN)}],
    "Air": [{"area": -np.ones(2)}, {"area": np.full(2, NAN)}, {"wind": np.full(3, INF)}],
    "Limit": [{"low": np.full((STEPS, 2), x)} for x in (0.2, NAN)]
    + [{"soft": x} for x in (1.0, 2.0, -0.1, NAN)]
    + [{"stiffness": -np.ones(2)}],
    "SwingTwist": [{"swing": np.full((2, 2), x)} for x in (0.0, -1.0, NAN)]
    + [{"twist": np.tile([0.1, -0.1], (2, 1))}, {"soft": 1.0}, {"damping": -np.ones((2, 2))}],
    "Ground": [{"normal": ZERO}, {"normal": np.full(3, NAN)}, {"radius": -np.ones(2)}, {"radius": np.full(2, NAN)}]
    + [{"static": -1.0}, {"kinetic": NAN}, {"stiffness": INF}, {"damping": -1.0}],
    "Striker": [{"mass": 0.0}, {"mass": NAN}, {"velocity": np.full(3, NAN)}, {"restitution": 2.0}, {"time": NAN}]
    + [{"restitution": -0.1}, {"normal": ZERO}, {"normal": np.full(3, NAN)}],
    "Capsules": [{"radius": -np.ones(2)}, {"ends": np.full((2, 2, 3), NAN)}],
    "JointSpring": [{"rest": np.zeros((2, 4))}, {"rest": np.full((2, 4), NAN)}],
}
MAKE = {
    "Law": lambda **c: Law(**{"stiffness": ONES, "damping": ONES, **c}),
    "Release": lambda **c: Release(**{"low": 0.0, "high": 1.0, **c}),
    "Viscous": lambda **c: Viscous(**{"bodies": TWO, **c}),
    "DryFriction": lambda **c: DryFriction(**{"bodies": TWO, "torque": np.ones((STEPS, 2)), "creep": 0.1, **c}),
    "HingeFriction": lambda **c: HingeFriction(**{"bodies": TWO, **c}),
    "Pulse": lambda **c: Pulse(**{"body": 1, "point": ZERO, "impulse": ZERO, "start": 0.2, "duration": 0.05, **c}),
    "Wrench": lambda **c: Wrench(**{"bodies": TWO, "points": np.zeros((2, 3)), **c}),
    "Air": lambda **c: Air(**{"bodies": TWO, "points": np.zeros((2, 3)), "area": np.ones(2), "wind": ZERO, **c}),
    "Limit": limit,
    "SwingTwist": swing_twist,
    "Ground": ground,
    "Striker": striker,
    "Capsules": lambda **c: Capsules(**{"bodies": TWO, "ends": np.zeros((2, 2, 3)), "radius": np.ones(2), **c}),
    "JointSpring": lambda **c: JointSpring(**{"bodies": TWO, "law": Law(ONES, ONES), **c}),
}


@pytest.mark.parametrize(("name", "wrong"), [(name, x) for name, all_ in SETTINGS.items() for x in all_])
def test_forces_are_refused_by_name(name, wrong):
    """Where they are made: many of these had done nothing at all, or the reverse of what they say."""
    with pytest.raises(ValueError, match=rf"^{name}.* expected|^Law: exponents"):
        MAKE[name](**wrong)


def test_normals_and_rest_poses_are_of_any_length(scene):
    """A plane's normal twice as long had put it elsewhere."""
    floor = {"points": np.zeros((2, 3)), "origin": np.array([0.0, 0.0, 2.0])}
    one, two = (scene.run(Contacts([ground(normal=z * np.array([0, 0, 1]), **floor)])) for z in (1, 2))
    np.testing.assert_array_equal(one.state.twist, two.state.twist)
    assert np.abs(one.state.twist - scene.run().state.twist).max() > 0.1
    rest = multiply(scene.start().state.rotation[TWO], exp(np.tile([0.0, 0.4, 0.0], (2, 1))))
    one, two = (scene.run(JointSpring(TWO, Law(ONES, ONES), rest=z * rest)) for z in (1.0, 3.0))
    np.testing.assert_allclose(one.state.twist, two.state.twist, atol=1e-12)


@pytest.mark.parametrize("bodies", [[1, 9], [-1, 1], [1.0, 2.0]], ids=["beyond", "below", "fractions"])
def test_forces_on_bodies_that_the_model_lacks_are_refused(scene, bodies):
    """A number below zero had meant the last bone."""
    for force in (Viscous(np.array(bodies), np.ones(2)), Pulse(max(bodies, key=abs), ZERO, np.ones(3), 0.2, 0.05)):
        with pytest.raises(ValueError, match=rf"{type(force).__name__}: expected bodies of a model that has 4"):
            scene.run(force)


def test_what_does_not_fit_is_told_with_the_name_of_the_force(scene):
    wrong = [
        JointSpring(TWO, Law(np.ones((3, 2, 3)), ONES)),  # of three steps
        JointSpring(TWO, Law(np.ones((5, 3)), np.ones((5, 3)))),
        Wrench(TWO, np.zeros((2, 3)), np.ones((2, 3))),
        limit(low=np.full(2, -0.1), high=np.full(2, 0.1)),
    ]
    for force in wrong:
        with pytest.raises(ValueError, match=rf"{type(force).__name__} doesn't fit 4 bodies and 10 steps"):
            scene.run(force)


def test_a_source_of_contacts_is_no_force_and_a_fault_of_a_force_shows(scene):
    with pytest.raises(ValueError, match="HingeFriction is no force by itself; .* goes to Contacts"):
        scene.run(HingeFriction(TWO, np.ones(2)))

    class Broken:
        def add(self, load, step):
            return self.lost

    with pytest.raises(AttributeError, match="lost"):
        scene.run(Broken())


def test_a_force_that_is_no_number_is_told_with_the_bone(scene):
    """Not that a bone turns ever faster; in a batch too."""
    field = Field(lambda x, t: np.where(np.arange(4)[:, None] == 2, NAN, 0.0) * x)
    pulse = Pulse(2, ZERO, np.array([NAN, 0.0, 0.0]), 0.2, 0.05)
    for force, batch in ((field, ()), (pulse, ()), (pulse, (3,))):
        with pytest.raises(SimulationError, match=rf"{type(force).__name__} is no finite number at bone 'b2'"):
            scene.run(muscle(scene.model, scene.reference, 1.0), force, start=scene.start(batch))


def test_a_joint_that_moves_no_mass_is_told_with_contacts_too():
    """They ask how the body gives way, which it does without effort where a hinge turns a point mass about itself.  One
    that a spring holds moves; where it breaks down, contacts are asked again without the spring."""
    places, about = np.array([ZERO, [0.0, 0.0, 0.2]]), np.array([0.1, 0.0])[:, None, None] * np.eye(3)
    ball, point = inertia(np.ones(2), places, about)
    joints = FREE, revolute([0.0, 0.0, 1.0]), FIXED
    model = Model(("base", "idle", "point"), np.arange(-1, 2), joints, np.array([ball, 0.0 * ball, point]))
    position = np.tile([[0.0, 0.0, 1.0], [0.0, 0.0, 0.3], ZERO], (2, 1, 1))
    reference = build([0.0, 1.0], np.tile([1.0, 0.0, 0.0, 0.0], (2, 3, 1)), position, 0.2, STEPS, H)
    floor = Contacts([Ground(np.array([2]), np.zeros((1, 3)), np.array([2.5]))])
    for forces in ([], [floor]):
        with pytest.raises(ModelError, match="'idle' can turn without moving any mass"):
            last(simulate(model, reference, forces, GRAVITY))
    spring = JointSpring(np.array([1]), Law(np.ones((1, 3)), np.ones((1, 3))))
    assert is_finite(last(simulate(model, reference, [spring, floor], GRAVITY)).state)
    blow = Pulse(0, ZERO, np.array([1e200, 0.0, 0.0]), 0.2, 0.05)
    with pytest.raises(SimulationError, match="turned ever faster"):
        last(simulate(model, reference, [spring, blow, floor], GRAVITY))


def test_shapes_and_integrators_refuse_what_is_none(scene):
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert shapes.mesh(faces.tolist(), corners.tolist()).mass == pytest.approx(1000.0 / 6.0)
    for density in (0.0, -1.0, NAN):
        for make in (
            lambda d: shapes.box([1, 1, 1], d),
            lambda d: shapes.ellipsoid([1, 1, 1], d),
            lambda d: shapes.capsule([0, 0, 1], 1, d),
            lambda d: shapes.mesh(faces, corners, d),
        ):
            with pytest.raises(ModelError, match="density"):
                make(density)
    for wrong in (faces + 1, faces - 1, faces.astype(float)):
        with pytest.raises(ValueError, match="4 vertices"):
            shapes.mesh(wrong, corners)
    nothing = shapes.Solid(0.0, ZERO, np.zeros((3, 3)))
    with pytest.raises(ModelError, match="without mass"):
        nothing + nothing
    with pytest.raises(ValueError, match="part"):
        shapes.thickened(np.eye(3), np.ones(3), NAN)
    state, acceleration = scene.reference.state(0), integrators.of_model(scene.model, GRAVITY)
    for times in ([0.0, 0.1, 0.05], [0.0, NAN]):
        with pytest.raises(ValueError, match="ascending"):
            last(integrators.integrate(integrators.METHODS["rk4"], state, times, acceleration))
    for end in (-0.1, NAN, INF):
        with pytest.raises(ValueError, match="adaptive: expected an end"):
            next(integrators.adaptive(state, 0.0, end, acceleration))


@pytest.mark.parametrize("name", ["direction", "offset", "origin", "striker"])
def test_a_hit_has_three_numbers_where_it_needs_them(name):
    for wrong in ([1.0, 0.0], 1.0, [[1.0, 0.0, 0.0]]):
        with pytest.raises(SituationError, match=f"{name} is .* three numbers"):
            Hit(25.0, **{name: wrong})
    Hit(25.0, **{name: (1.0, 2.0, 0.5)})


def test_nothing_that_is_given_is_changed(scene):
    forces = [
        muscle(scene.model, scene.reference, 1.0),
        Pulse(2, ZERO, np.array([1.0, 0.0, 0.0]), 0.2, 0.05),
        limit(),
        swing_twist(),
        Contacts([ground(), HingeFriction(TWO, np.ones(2))]),
    ]
    for batch in ((), (2,)):
        start = scene.start(batch)
        things = scene.model, scene.reference, *forces[:-1], *forces[-1].sources, start.state
        given = [x for thing in things for x in vars(thing).values() if isinstance(x, np.ndarray)]
        before = pickle.dumps(given)
        for solver in (forward_dense, forward_tree, forward_light):
            scene.run(*forces, start=start, solver=solver)
        assert pickle.dumps(given) == before


hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

SIZES = st.sampled_from((0.0, 1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e12))


@given(
    seed=st.integers(0, 2**16),
    masses=st.lists(SIZES, min_size=4, max_size=4),
    lengths=st.lists(SIZES, min_size=4, max_size=4),
    frequency=st.sampled_from((0.0, 0.1, 3.0, 60.0, 1e4)),
    ratio=st.sampled_from((0.0, 0.7, 10.0, 1e3)),
    h=st.sampled_from((1e-9, 1 / 480, 1 / 24, 10.0)),
    impulse=st.sampled_from((0.0, 1e-9, 10.0, 1e9)),
    solver=st.sampled_from((forward_dense, forward_tree, forward_light)),
    batch=st.sampled_from(((), (1,), (2, 2))),
    fixed=st.booleans(),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_extreme_bodies_are_simulated_or_refused(
    scene, seed, masses, lengths, frequency, ratio, h, impulse, solver, batch, fixed
):
    """Masses over 24 powers of ten, points that lie on each other or a million metres apart, any spring and step."""
    rng = np.random.default_rng(seed)
    plain = tree(rng, 4, free=not fixed, kinds=("spherical", "hinge", "fixed"))
    position = scene.position * np.asarray(lengths)[:, None]
    try:
        model = Model(plain.names, plain.parent, plain.joints, plain.inertia * np.asarray(masses)[:, None, None])
        reference = build(scene.times, scene.rotation, position, 0.2, STEPS, h)
        blow = Pulse(3, 0.1 * np.ones(3), np.array([impulse, 0.0, -impulse]), 0.2, 4 * h)
        start = Run(0, State(*(np.broadcast_to(x, batch + x.shape) for x in vars(reference.state(0)).values())))
        forces = [muscle(model, reference, frequency, ratio=ratio)] if frequency else []
        end = last(simulate(model, reference, [*forces, blow], GRAVITY, start, solver))
    except CoreError as error:
        assert str(error).endswith(".") and "'b" in str(error), error
    else:
        assert is_finite(end.state)


def test_a_body_whose_joints_are_all_fixed_is_its_clip(scene):
    model = Model(scene.model.names, scene.model.parent, (FIXED,) * 4, scene.model.inertia)
    end = last(simulate(model, scene.reference, [], GRAVITY))
    np.testing.assert_allclose(end.state.rotation, scene.reference.rotation[-1], atol=1e-12)
    free = Model(scene.model.names, scene.model.parent, (FREE, *(FIXED,) * 3), scene.model.inertia)
    assert np.abs(last(simulate(free, scene.reference, [], GRAVITY)).state.position - end.state.position).max() > 1e-3
