"""`build.py bench`: every row is there, ratios are what was asked for, both sides do the same thing. No timings."""

import json
import sys

import numpy as np
import pytest

from bench import band, clock, engines, plain, reaction, trees
from core.dynamics import forward_dense, forward_tree, kinematics
from core.dynamics.load import Load
from core.rotation import angle
from core.simulate import step
from core.stage import SUBSTEP
from tools import benchmark


class Counting:
    """A worker that answers with the number of the question."""

    def __init__(self, name, tasks):
        self.name, self.tasks, self.asked = name, tasks, []

    def sample(self, task):
        self.asked.append(task)
        return 2.0 * len(self.asked)


def tasks_with_engines():
    sizes = ("step", "step dense", "step tree", "step batch", "step dense batch", "step tree batch", "plain")
    sizes += ("pinocchio", "mujoco")
    tasks = [f"{name}/{n}" for name in sizes for n in trees.SIZES if (name, n) != ("step dense batch", 200)]
    tasks += [f"band/{v}" for v in band.INTERVALS] + ["finger/1", "finger/2"]
    return tasks + [f"reaction/{name}" for name in reaction.KINDS]


def test_rows_for_both_numpys_and_their_ratios():
    core, debian = Counting(benchmark.PIP, tasks_with_engines()), Counting(benchmark.DEBIAN, tasks_with_engines())
    rows = benchmark.core_rows(core, debian)
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)
    for worker in (core, debian):
        for n in trees.SIZES:
            for kind in ("sub-step", "batch of 64"):
                assert f"{worker.name}: {kind}, {n} bones / Pinocchio ABA" in names
    benchmark.measure(rows, 3)
    assert len(core.asked) == 3 * len(set(core.asked))  # each task once a round, in turn
    assert core.asked[: len(set(core.asked))] == core.asked[-len(set(core.asked)) :]
    for result in (row.result() for row in rows):
        assert result["rounds"] == 3 and result["spread"][0] <= result["ratio"] <= result["spread"][1]


def test_a_ratio_is_the_median_of_the_rounds():
    row = benchmark.Row("a / b", ("w", "a"), ("w", "b"), 2.5)
    row.samples = [(2.0, 1.0), (9.0, 3.0), (4.0, 1.0)]
    result = row.result()
    assert (result["ratio"], result["spread"], result["best"]) == (3.0, [2.5, 3.5], 2.0)
    lines = benchmark.table([result], {"machine": "here"})
    assert "3.00" in lines[1] and "2.5 missed" in lines[1] and "here" in lines[-1]


def test_without_an_engine_its_rows_drop_out():
    core = Counting(benchmark.PIP, [t for t in tasks_with_engines() if not t.startswith(("pinocchio", "mujoco"))])
    rows = benchmark.core_rows(core)
    assert rows and not any("Pinocchio" in row.name or "MuJoCo" in row.name for row in rows)


def test_a_worker_answers_and_a_broken_one_says_why(tmp_path):
    code = "from bench import clock; clock.serve({'nothing': clock.Task(lambda: None)}, {'n': 1})"
    worker = benchmark.Worker("w", [sys.executable, "-c", code])
    assert (worker.tasks, worker.facts) == (["nothing"], {"n": 1})
    assert worker.sample("nothing") > 0.0
    with pytest.raises(benchmark.host.BuildError, match="KeyError: 'unknown'"):
        worker.sample("unknown")
    worker.close()


def test_preparing_is_not_timed(monkeypatch):
    now = [0.0]

    def takes(seconds):
        now[0] += seconds

    monkeypatch.setattr(clock.time, "perf_counter", lambda: now[0])
    once = clock.Task(lambda: takes(1.0), lambda: takes(100.0), once=True)
    repeated = clock.Task(lambda: takes(0.5), lambda: takes(100.0), repeats=10)
    assert (once.sample(), repeated.sample()) == (1.0, 0.05)


@pytest.mark.parametrize("count", trees.SIZES)
def test_all_engines_compute_the_same_acceleration(count):
    scene = trees.scene(count)
    body, state = scene.model, scene.run.state
    kin, load = kinematics(body, state), Load.zero(body, trees.GRAVITY)
    ours = forward_dense(body, kin, load)
    scale = np.abs(ours).max()
    # in the shared frame the tree solver loses digits on bones of grams: eyes, fingers
    assert np.abs(forward_tree(body, kin, load) - ours).max() < 1e-5 * scale
    subspace, tau = [joint.T for joint in body.joints], [np.zeros(len(joint)) for joint in body.joints]
    printed = plain.aba(
        body.parent, subspace, body.inertia, state.rotation, state.position, state.twist, tau, trees.GRAVITY
    )
    assert np.abs(np.concatenate(printed) - ours).max() < 1e-9 * scale
    if count > 100:
        return  # Pinocchio's data would take gigabytes
    pytest.importorskip("pinocchio")
    theirs = engines.Pinocchio(body, state, trees.GRAVITY)
    assert np.abs(theirs.by_dof(theirs.aba()) - ours).max() < 1e-9 * scale


def test_mujoco_has_the_same_joints_springs_and_limits():
    pytest.importorskip("mujoco")
    scene = trees.scene(22)
    one = np.ones(22)
    twin = engines.MuJoCo(scene.model, scene.run.state, trees.GRAVITY, one, one, float(trees.CONE), trees.H)
    assert (twin.mj.nv, twin.mj.nq) == (scene.model.nv, 7 + 4 * 21)
    assert twin.mj.jnt_limited.sum() == 21 and (twin.mj.jnt_stiffness[1:] == 1.0).all()
    twin.prepare()
    twin.step(20)
    assert twin.finite()


def test_a_batch_steps_as_its_states_do():
    scene = trees.scene(22, 3)
    together = step(scene.model, scene.reference, scene.forces, trees.GRAVITY, scene.run)
    for i in range(3):
        state = type(scene.run.state)(*(getattr(scene.run.state, k)[i] for k in ("rotation", "position", "twist")))
        alone = step(scene.model, scene.reference, scene.forces, trees.GRAVITY, type(scene.run)(0, state))
        assert angle(alone.state.rotation, together.state.rotation[i]).max() < 1e-9


def test_the_slow_band_is_finite_and_worse_the_rarer_it_is():
    errors = [band.error(v) for v in (1, 4)]
    assert errors == sorted(errors) and errors[0] > 0.0 and errors[-1] < 90.0


def test_the_reaction_has_25_bones_and_lasts_2_s():
    done = reaction.upper_body()()
    assert len(done.actor.names) == 25 and "thigh.L" not in done.peaks()
    assert 5.0 < max(done.peaks().values()) < 120.0
    assert done.times[-2] - done.times[0] < 2.0 <= done.times[-1] - done.times[0] + 1e-9
    assert done.times[-1] - done.times[-2] < 4.0 * SUBSTEP + 1e-9
    json.dumps(benchmark.table([], {"machine": "here"}))
