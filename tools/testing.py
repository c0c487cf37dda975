"""`build.py test`: every test that can run on this machine, in stages, with one closing count."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import Future, ThreadPoolExecutor

from . import chroot, environments, extension, host

STAGE_TIMEOUT = 1500  # seconds; a stage that takes longer hangs: on a quiet machine the longest takes 500
AT_ONCE = 2  # stages; most machines that run this have two cores
NO_TESTS = "collected no tests"
ONE_BLENDER = "bpy-4.5"  # where alone tests marked `one_blender` run: what they prove is no matter of its version
FIND_PYTEST = """
import importlib.util, sys
print("\\nFOUND", "%d.%d" % sys.version_info[:2], importlib.util.find_spec("pytest") is not None)
"""


class Result:
    def __init__(self, passed=0, failed=0, skipped=0, note=""):
        self.passed, self.failed, self.skipped, self.note = passed, failed, skipped, note
        self.seconds = 0.0


class Selection:
    """The user's pytest arguments; a selection by path, -k or -m leaves out what it doesn't name."""

    def __init__(self, arguments):
        self.paths, self.options = [], []
        for before, item in zip(["", *arguments], arguments):
            is_value = before in ("-k", "-m", "-p", "-W", "-o")
            is_path = not is_value and not item.startswith("-") and (host.REPO / item.split("::")[0]).exists()
            (self.paths if is_path else self.options).append(item)
        by_name = any(item.startswith(("-k", "-m", "--lf")) for item in self.options)
        self.is_partial = bool(self.paths) or by_name

    def within(self, roots):
        """The paths to hand to the stage that runs `roots`; none where the selection lies elsewhere."""
        if not self.paths:
            return [str(root) for root in roots if (host.REPO / root).exists()]
        inside = []
        for item in self.paths:
            path = (host.REPO / item.split("::")[0]).resolve()
            for root in (host.REPO / root for root in roots):
                if root == path or root in path.parents:
                    inside.append(item)
                elif path in root.parents and root.exists():
                    inside.append(str(root.relative_to(host.REPO)))
        return inside


def run(arguments, blender=None):
    """Run the stages two at a time, print each stage's outcome and the sum; returns the exit code."""
    host.TESTS_OUT.mkdir(exist_ok=True)
    selection = Selection(arguments)
    started = time.monotonic()
    stages = _stages_in_blender(selection, blender) if blender else _all_stages(selection)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = [(name, pool.submit(_timed, name, stage)) for name, stage in stages]
        results = [(name, future.result()) for name, future in futures]
    return _summarise(results, selection, time.monotonic() - started)


def _all_stages(selection):
    _offer_second_reader()
    archive = _in_background(
        lambda: extension.package(
            extension.builder_in_wheel(environments.python(environments.choose_wheel())), host.TESTS_OUT / "package"
        )
    )
    prepared = _in_background(_prepare_blender) if _wants_blender(selection) else None
    core_roots = ["tests/core", *sorted(str(p.relative_to(host.REPO)) for p in host.REPO.glob("tests/test_*.py"))]
    stages = [] if selection.is_partial else [("lint", _lint)]
    stages.append(("core", lambda: _pytest("core", "core", core_roots, selection, None)))
    for name in ("bpy-4.5", "bpy-5.2", "bpy-4.2"):
        stages.append((name, lambda name=name: _pytest(name, name, ["tests/blender"], selection, archive)))
    left_out = _deselected("blender", selection)
    stages.append(("blender", lambda: _in_real_blender(selection, archive, prepared.result, left_out)))
    if not selection.is_partial or selection.within(["tests/gui"]):
        stages.append(("window", lambda: _window(selection, archive, prepared.result)))
    return [(name, stage) for name, stage in stages if prepared or name not in ("blender", "window")]


def _offer_second_reader():
    """Assimp reads our FBX files independently of Blender; tests that need it skip where it is missing."""
    try:
        host.need_program("assimp", "assimp-utils", "the second FBX reader")
    except host.BuildError as error:
        host.say("{} Tests that use it are skipped.".format(error))


def _wants_blender(selection):
    return bool(selection.within(["tests/blender"]) or selection.within(["tests/gui"]))


def _stages_in_blender(selection, blender):
    archive = _in_background(
        lambda: extension.package(extension.builder_in_blender(blender), host.TESTS_OUT / "package")
    )
    return [("blender", lambda: _in_real_blender(selection, archive, lambda: blender))]


def _in_background(work):
    """A future for work that starts now, outside the pool of stages."""
    future = Future()

    def target():
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=target, daemon=True).start()
    return future


def _prepare_blender():
    chroot.ensure()
    return chroot.wrapper()


def _timed(name, stage):
    started = time.monotonic()
    try:
        result = stage()
    except host.UnavailableError as reason:
        result = Result(skipped=1, note="skipped: {}".format(reason))
    except host.BuildError as error:
        result = Result(failed=1, note=str(error))
    result.seconds = time.monotonic() - started
    host.say("{}: {}".format(name, _outcome(result)))
    return result


def _lint():
    python = environments.python("core")
    commands = [[python, "-m", "ruff", "check", "."]]
    if (host.REPO / "core").is_dir():
        commands.append([python, "-m", "mypy"])
    result = Result()
    for command in commands:
        status, log = _run_logged("lint", command, dict(os.environ))
        if status:
            result.failed += 1
            print(log.read_text(encoding="utf-8", errors="replace"), flush=True)
        else:
            result.passed += 1
    return result


def _pytest(name, environment_name, roots, selection, archive):
    paths = selection.within(roots)
    if not paths:
        return Result(note="left out: not selected" if selection.paths else NO_TESTS)
    command = [environments.python(environment_name), "-m", "pytest", "-p", "no:pytest-blender", *paths]
    command += _deselected(name, selection)
    return _run_pytest(name, command, selection, archive)


def _deselected(name, selection):
    """Options that leave out what needn't run in a stage again; what the user selects runs wherever he has it run."""
    return [] if name == ONE_BLENDER or selection.is_partial else ["-m", "not one_blender"]


def _in_real_blender(selection, archive, get_blender, left_out=()):
    paths = selection.within(["tests/blender"])
    if not paths:
        return Result(note="left out: not selected" if selection.paths else NO_TESTS)
    blender = get_blender()
    python = environments.python("pytest-blender")
    options = ["--factory-startup", "--python-exit-code", "3", *_pytest_for(blender, python)]
    command = [python, "-m", "pytest", *paths, *left_out, "--blender-executable", blender]
    return _run_pytest("blender", command, selection, archive, ["--", *options])


def _pytest_for(blender, python):
    """Options that let a Blender find pytest: Debian's uses the system's, an official one gets its own folder."""
    start = [blender, "-b", "--factory-startup", "--python-exit-code", "3", "--python-expr", FIND_PYTEST]
    found = re.search(r"^FOUND (\S+) (True|False)", host.check_run(start, "starting {}".format(blender)), re.MULTILINE)
    if not found:
        raise host.BuildError("{} is not a Blender that runs Python.".format(blender))
    version, has_pytest = found.groups()
    if has_pytest == "True":
        return []
    folder = host.CACHE / "pytest-for-blender" / version
    pins = [line for line in environments.pins("bpy-4.5") if re.match(r"(?i)(pytest|hypothesis|pillow)==", line)]
    with host.lock("pytest-for-blender"):
        if not (folder / "pytest").exists():
            host.say("installing pytest for Blender's Python {} in {}".format(version, folder))
            pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", folder]
            pip += ["--python-version", version, "--only-binary=:all:", *pins]
            host.check_run(pip, "installing pytest for Blender")
    return ["--python-expr", "import sys; sys.path.append({!r})".format(str(folder))]


def _window(selection, archive, get_blender):
    get_blender()
    paths = selection.within(["tests/gui"])
    if not paths:
        return Result(note=NO_TESTS)
    command = chroot.enter(["/usr/bin/python3", "-m", "pytest", *paths, *_report_options("window"), *selection.options])
    return _run_pytest("window", command, None, archive)


def _report_options(name):
    return ["-p", "no:cacheprovider", "--continue-on-collection-errors", "--junitxml={}".format(_report(name))]


def _report(name):
    return host.TESTS_OUT / (name + ".xml")


def _run_pytest(name, command, selection, archive, tail=()):
    """One pytest process with resources of its own; the counts come from its XML report."""
    if selection is not None:
        command = [*command, *_report_options(name), *selection.options]
    if _report(name).exists():
        _report(name).unlink()
    with extension.private_resources() as environment:
        environment["PARAMETRIC_DYNAMICS_TESTS_OUT"] = str(host.TESTS_OUT)
        environment["PYTEST_ADDOPTS"] = ""
        environment.update(host.ONE_THREAD)  # stages share the cores: threads would wait for each other
        if archive is not None:
            environment["PARAMETRIC_DYNAMICS_ZIP"] = str(archive.result())
        host.say("{}: started, log in {}".format(name, host.TESTS_OUT / (name + ".log")))
        status, log = _run_logged(name, [*command, *tail], environment)
    result = _read_report(name, status)
    _show(name, log, whole=bool(result.failed))
    return result


def _run_logged(name, command, environment):
    """Run in a process group of its own, so that a hang is ended with all it started."""
    log = host.TESTS_OUT / (name + ".log")
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=str(host.REPO),
            env=environment,
            start_new_session=os.name != "nt",
        )
        try:
            return process.wait(timeout=STAGE_TIMEOUT), log
        except subprocess.TimeoutExpired:
            output.write("\nended after {} s\n".format(STAGE_TIMEOUT).encode())
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
            return process.wait() or 1, log


def _read_report(name, status):
    try:
        suites = list(ElementTree.parse(str(_report(name))).getroot().iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        return Result(failed=1, note="pytest ended with status {} and left no report".format(status))
    count = {key: sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"]
    note = "" if count["tests"] else NO_TESTS
    return Result(count["tests"] - failed - count["skipped"], failed, count["skipped"], note)


def _show(name, log, whole):
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    wanted = lines[-300:] if whole else [line for line in lines if re.match("SKIPPED|XFAIL", line)]
    if wanted:
        print("---- {}".format(name), *wanted, sep="\n", flush=True)


def _outcome(result):
    counts = "{} passed, {} failed, {} skipped in {:.1f} s".format(
        result.passed, result.failed, result.skipped, result.seconds
    )
    return counts + (" ({})".format(result.note) if result.note else "")


def _summarise(results, selection, seconds):
    for _, result in results:
        if result.note == NO_TESTS and not selection.is_partial:
            result.failed += 1
    print("\n==== {} in {:.0f} s".format(host.describe(), seconds))
    for name, result in results:
        print("{:10} {}".format(name, _outcome(result)))
    passed, failed, skipped = (
        sum(getattr(result, key) for _, result in results) for key in ("passed", "failed", "skipped")
    )
    print("{} passed, {} failed, {} skipped".format(passed, failed, skipped))
    sys.stdout.flush()
    return 1 if failed or not passed else 0
