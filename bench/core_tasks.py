"""What is timed without Blender: sub-steps, solvers, the slow band, engines, a reaction.

    python -m bench.core_tasks         offers its tasks to the driver; engines only where they are installed
"""

import importlib.util
import platform
from functools import partial

import numpy as np

from core.dynamics import forward, forward_dense, forward_tree, kinematics
from core.dynamics.load import Load
from core.simulate import in_lanes, keep_memory, step
from tests.core.finger import finger

from . import band, engines, plain, reaction, trees
from .clock import Task, serve

MUJOCO_STEPS = 20


def offered():
    """Tasks by name."""
    tasks = {}
    for count in trees.SIZES:
        tasks |= _of_size(count)
    tasks |= {f"band/{v}": Task(partial(band.run, v), once=True) for v in band.INTERVALS}
    tasks |= {f"finger/{v}": Task(partial(finger, refresh=v), once=True) for v in (1, 2)}
    tasks |= {f"reaction/{name}": Task(make(), once=True) for name, make in reaction.KINDS.items()}
    return tasks


def _of_size(count):
    single, batch = trees.scene(count), trees.scene(count, trees.BATCH)
    tasks = {
        f"step/{count}": Task(stepper(single)),
        f"step dense/{count}": Task(stepper(single, forward_dense)),
        f"step tree/{count}": Task(stepper(single, forward_tree)),
        f"step batch/{count}": Task(stepper(batch), repeats=trees.BATCH),
        f"step tree batch/{count}": Task(stepper(batch, forward_tree), repeats=trees.BATCH),
        f"dense/{count}": Task(unloaded(single, forward_dense)),
        f"tree/{count}": Task(unloaded(single, forward_tree)),
        f"plain/{count}": Task(plain_aba(single)),
    }
    if count < 200:  # there 64 dense matrices take gigabytes and the solver is out of the question
        tasks[f"step dense batch/{count}"] = Task(stepper(batch, forward_dense), repeats=trees.BATCH)
    if has("pinocchio") and engines.Pinocchio.fits(single.model):
        tasks[f"pinocchio/{count}"] = Task(pinocchio(single).aba)
    if has("mujoco"):
        twin = mujoco(single)
        tasks[f"mujoco/{count}"] = Task(partial(twin.step, MUJOCO_STEPS), twin.prepare, repeats=MUJOCO_STEPS)
    return tasks


def has(module):
    return importlib.util.find_spec(module) is not None


def stepper(scene, solver=forward):
    """One sub-step of the default integrator, from the same state every time, which lies as a step before left it."""
    keep_memory()  # as `simulate` does
    run = in_lanes(scene.run) if scene.run.state.twist.ndim > 2 else scene.run
    return partial(step, scene.model, scene.reference, scene.forces, trees.GRAVITY, run, solver)


def unloaded(scene, solve):
    """One forward dynamics of the unloaded tree, kinematics included."""

    def call():
        kin = kinematics(scene.model, scene.run.state)
        return solve(scene.model, kin, Load.zero(scene.model, trees.GRAVITY))

    return call


def plain_aba(scene):
    body, state = scene.model, scene.run.state
    subspace = [np.ascontiguousarray(joint.T) for joint in body.joints]
    tau = [np.zeros(len(joint)) for joint in body.joints]
    fixed = (body.parent, subspace, body.inertia, state.rotation, state.position, state.twist, tau, trees.GRAVITY)
    return partial(plain.aba, *fixed)


def pinocchio(scene):
    return engines.Pinocchio(scene.model, scene.run.state, trees.GRAVITY)


def mujoco(scene):
    muscle = scene.forces[0]
    stiffness, damping = (
        np.trace(values[:, :3, :3], axis1=-2, axis2=-1) / 3.0 for values in (muscle.stiffness, muscle.damping)
    )
    state = scene.run.state
    return engines.MuJoCo(scene.model, state, trees.GRAVITY, stiffness, damping, float(trees.CONE), trees.H)


def facts():
    """What this worker runs on, and the slow band's errors."""
    config = np.show_config(mode="dicts") if "mode" in np.show_config.__code__.co_varnames else {}
    blas = config.get("Build Dependencies", {}).get("blas", {}).get("name", "unknown")
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": blas,
        "band_deg": {str(v): band.error(v) for v in band.INTERVALS},
        "reaction_substeps": {name: make()().substeps for name, make in reaction.KINDS.items()},
    }


if __name__ == "__main__":
    serve(offered(), facts())
