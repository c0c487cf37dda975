"""`build.py bench`: ratios of times, asked one at a time from worker processes in turn, so that all share the load."""

import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from . import chroot, environments, extension, host

ROUNDS, ROUNDS_IN_BLENDER = 7, 5
SIZES = (22, 65, 200)
CHARACTER = host.DATA / "1_game_characters" / "quaternius" / "cyberpunk_Character.glb"
PIP, DEBIAN = "pip numpy", "Debian numpy"


class Worker:
    """A process that times what it is told to; see bench/clock.py."""

    def __init__(self, name, command, environment=None):
        self.name, self.log = name, tempfile.TemporaryFile("w+")  # noqa: SIM115  open as long as the process
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            cwd=str(host.REPO),
            env=dict(environment or os.environ, **host.ONE_THREAD),
        )
        hello = self._answer()
        self.tasks, self.facts = hello["tasks"], hello["facts"]

    def sample(self, task):
        self.process.stdin.write(task + "\n")
        self.process.stdin.flush()
        return self._answer()["seconds"]

    def _answer(self):
        for line in self.process.stdout:
            if line.startswith("BENCH "):
                return json.loads(line[len("BENCH ") :])
        status = self.process.wait()
        self.log.seek(0)
        said = self.log.read()[-2000:].rstrip()
        raise host.BuildError("The measuring process '{}' ended with status {}:\n{}".format(self.name, status, said))

    def close(self):
        self.process.stdin.close()
        self.log.close()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Row:
    """One comparison: ours against theirs, each a (worker, task)."""

    def __init__(self, name, ours, theirs, target=None):
        self.name, self.ours, self.theirs, self.target = name, ours, theirs, target
        self.samples = []

    def result(self):
        """Median of the ratios within a round, their quartiles, and both medians in seconds."""
        ratios = [a / b for a, b in self.samples]
        low, _, high = quartiles(ratios)
        return {
            "name": self.name,
            "ratio": statistics.median(ratios),
            "spread": [low, high],
            "best": min(a for a, _ in self.samples) / min(b for _, b in self.samples),
            "ours_s": statistics.median(a for a, _ in self.samples),
            "theirs_s": statistics.median(b for _, b in self.samples),
            "target": self.target,
            "rounds": len(self.samples),
        }


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def measure(rows, rounds):
    """Fill the rows: each round asks for each distinct task once, in turn."""
    wanted = list(dict.fromkeys(side for row in rows for side in (row.ours, row.theirs)))
    for _ in range(rounds):
        seconds = {(worker, task): worker.sample(task) for worker, task in wanted}
        for row in rows:
            row.samples.append((seconds[row.ours], seconds[row.theirs]))


# -- what is compared ------------------------------------------------------------------------------------------------


def core_rows(core, debian=None):
    """Rows of the core under pip's numpy and, where there is one, under Debian's; engines run beside pip's."""
    rows = []
    for worker in [core] if debian is None else [core, debian]:
        for count in SIZES:
            rows += _rows_of_size(worker, core, count)
        rows += [
            _row(worker, "slow band, every {}".format(v), "band/{}".format(v), worker, "band/1", "every step")
            for v in (2, 4, 8)
        ]
        rows.append(_row(worker, "finger, 8 s, slow band every 2", "finger/2", worker, "finger/1", "every step"))
    if debian is not None:
        rows += [_row(debian, task, task, core, task, PIP) for task in REACTIONS]
        rows += [_row(debian, "step/{}".format(n), "step/{}".format(n), core, "step/{}".format(n), PIP) for n in SIZES]
    return [row for row in rows if row.ours[1] in row.ours[0].tasks and row.theirs[1] in row.theirs[0].tasks]


FINGER = (
    ("finger/1", "8 s", "604 s on a SUN and 89 s on a VAX 11/780"),
    ("finger/2", "8 s, slow band every other step", "385 s and 56.6 s"),
)
REACTIONS = ("reaction/upper body", "reaction/whole body")


def _rows_of_size(worker, core, n):
    step, batch = "step/{}".format(n), "step batch/{}".format(n)
    goal = 45.0 if n == 200 else 40.0
    return [
        _row(worker, "sub-step, {} bones".format(n), step, core, "pinocchio/{}".format(n), "Pinocchio ABA", goal),
        _row(worker, "sub-step, {} bones".format(n), step, core, "mujoco/{}".format(n), "MuJoCo step"),
        _row(worker, "sub-step, {} bones".format(n), step, worker, "plain/{}".format(n), "plain ABA"),
        _row(worker, "batch of 64, {} bones".format(n), batch, core, "pinocchio/{}".format(n), "Pinocchio ABA", 6.0),
        _row(worker, "sub-step, dense, {} bones".format(n), "step dense/{}".format(n), worker,
             "step tree/{}".format(n), "tree solver"),
        _row(worker, "batch of 64, dense, {} bones".format(n), "step dense batch/{}".format(n), worker,
             "step tree batch/{}".format(n), "tree solver"),
    ]  # fmt: skip


def _row(worker, ours, task, other, other_task, theirs, target=None):
    return Row("{}: {} / {}".format(worker.name, ours, theirs), (worker, task), (other, other_task), target)


def blender_rows(worker, target):
    return [
        _row(worker, job, task, worker, other, theirs, goal)
        for job, task in (("job, 120 frames of reaction", "job"), ("job, preset's own 66 frames", "job as preset"))
        for other, theirs, goal in (
            ("nla.bake", "nla.bake of 120", target),
            ("native rigid bodies", "native rigid bodies", None),
        )
    ]


# -- workers ---------------------------------------------------------------------------------------------------------


def _core_workers(stack):
    core = Worker(PIP, [environments.python("core"), "-m", "bench.core_tasks"])
    stack.callback(core.close)
    if not chroot.STAMP.exists():
        host.say("no Debian chroot here (`build.py test` makes it): nothing under reference BLAS")
        return core, None
    debian = Worker(DEBIAN, chroot.enter(["/usr/bin/python3", "-m", "bench.core_tasks"]))
    stack.callback(debian.close)
    return core, debian


def _blender_workers(blender):
    """(name, command, target) of every Blender that can be asked."""
    script = host.REPO / "bench" / "job_tasks.py"
    start = ["-b", "--factory-startup", "--python-exit-code", "3", "--python", script, "--"]
    if blender:
        return [("Blender", [blender, *start], 1.0)]
    found = [(name, [environments.python(name), script], 1.0) for name in environments.FOR_USERS]
    if chroot.STAMP.exists():
        found.append(("Debian's Blender", [chroot.wrapper(), *start], 1.5))
    return found


def run(blender=None, out=None, rounds=ROUNDS, rounds_in_blender=ROUNDS_IN_BLENDER):
    """Measure, print the table, write JSON; returns the exit code."""
    started, results, facts = time.monotonic(), [], {"machine": host.describe()}
    with contextlib.ExitStack() as stack:
        core, debian = _core_workers(stack)
        facts.update({worker.name: worker.facts for worker in (core, debian) if worker})
        rows = core_rows(core, debian)
        measure(rows, rounds)
        results += [row.result() for row in rows]
        facts["seconds"] = _seconds(core)
    results += _in_blender(blender, rounds_in_blender, facts)
    facts["took_s"] = round(time.monotonic() - started, 1)
    print("\n".join(table(results, facts)), flush=True)
    if out:
        Path(out).write_text(json.dumps({"rows": results, "facts": facts}, indent=2) + "\n", encoding="utf-8")
    return 0


def _seconds(core):
    """Seconds that stand for themselves: the finger beside the paper's, the reactions."""
    names = [name for name in core.tasks if name.startswith(("finger/", "reaction/"))]
    return {name: min(core.sample(name) for _ in range(5)) for name in names}


def _in_blender(blender, rounds, facts):
    results = []
    with tempfile.TemporaryDirectory(prefix="parametric_dynamics_") as folder:
        builder = extension.builder_in_blender(blender) if blender else None
        builder = builder or extension.builder_in_wheel(environments.python(environments.choose_wheel()))
        archive = extension.package(builder, Path(folder))
        for name, command, target in _blender_workers(blender):
            arguments = [archive, CHARACTER] if CHARACTER.exists() else [archive]
            with extension.private_resources() as environment:
                worker = Worker(name, [*command, *arguments], environment)
                facts[name] = worker.facts
                rows = blender_rows(worker, target)
                measure(rows, rounds)
                worker.close()
            results += [row.result() for row in rows]
    return results


# -- the table -------------------------------------------------------------------------------------------------------


def table(results, facts):
    """Lines: ratio, quartiles, best, both times, target."""
    head = "{:68} {:>8} {:>17} {:>8} {:>10} {:>10}  {}"
    lines = [head.format("ours / theirs", "ratio", "quartiles", "best", "ours", "theirs", "target")]
    for row in results:
        goal = "" if row["target"] is None else "{:g} {}".format(
            row["target"], "reached" if row["ratio"] <= row["target"] else "missed"
        )  # fmt: skip
        spread = "{:.2f} .. {:.2f}".format(*row["spread"])
        times = [duration(row[key]) for key in ("ours_s", "theirs_s")]
        ratio, best = "{:.2f}".format(row["ratio"]), "{:.2f}".format(row["best"])
        lines.append(head.format(row["name"], ratio, spread, best, *times, goal).rstrip())
    lines += ["", *_slow_band(results, facts), *_alone(facts), ""]
    return lines + ["{}: {}".format(name, json.dumps(value)) for name, value in facts.items()]


def _slow_band(results, facts):
    """Error and time by the number of sub-steps between two renewals."""
    for name, about in facts.items():
        errors = about.get("band_deg") if isinstance(about, dict) else None
        if errors:
            times = {row["name"]: row["ratio"] for row in results}
            yield "slow band, 22 bones, a blow of 10 N s, under {}:".format(name)
            for v, error in errors.items():
                part = times.get("{}: slow band, every {} / every step".format(name, v), 1.0)
                wrong = "breaks down" if error is None else "error {:5.1f} deg".format(error)
                yield "  renewed every {} sub-steps: {}, time x {:.2f}".format(v, wrong, part)


def _alone(facts):
    """What has nothing to be divided by: reactions, and our seconds beside the paper's of 1985."""
    seconds = facts.get("seconds", {})
    for task in REACTIONS:
        if task in seconds:
            text = "{} of 25 bones, 2 s, {} sub-steps: {} (to be reached: {})"
            steps = facts[PIP]["reaction_substeps"][task.partition("/")[2]]
            yield text.format(task.replace("/", ", "), steps, duration(seconds[task]), "100 ms")
    for task, what, paper in FINGER:
        if task in seconds:
            yield "tapping finger, {}: {} here, {} in 1985".format(what, duration(seconds[task]), paper)


def duration(seconds):
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1.0:
            return "{:.3g} {}".format(seconds * factor, unit)
    return "{:.3g} us".format(seconds * 1e6)
