"""Python environments with pinned versions, kept in the cache folder and shared by every clone."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import host

FOLDER = host.CACHE / "envs"
PINS = Path(__file__).resolve().parent / "pins"
STAMP = ".parametric_dynamics"

PYTHONS = {  # which Python versions an environment runs on, best first
    "core": ("3.11", "3.13", "3.12"),
    "pytest-blender": ("3.11", "3.13", "3.12"),
    "bpy-4.2": ("3.11",),
    "bpy-4.5": ("3.11",),
    "bpy-5.2": ("3.13",),
}
WHEELS = tuple(name for name in PYTHONS if name.startswith("bpy-"))
FOR_USERS = ("bpy-4.5", "bpy-5.2")  # `demo` and `run` need one of these
PROBE = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
INSTALLED = """
from importlib import metadata
for distribution in metadata.distributions():
    print(distribution.metadata["Name"] + "==" + distribution.version)
"""


def python(name):
    """The interpreter of an environment, which is built where it is missing, half-built or out of date."""
    with host.lock("env-" + name):
        if not _is_current(name):
            if _was_made_with_these_pins(name):
                host.say("adopting the environment {}".format(FOLDER / name))
            else:
                _build(name)
            (FOLDER / name / STAMP).write_text(_pins_hash(name), encoding="utf-8")
    if name in WHEELS:
        host.need_blender_libraries()
    return _interpreter(name)


def choose_wheel():
    """The wheel for `demo` and `run`: the one that fits this Python, else one whose Python is somewhere here."""
    running = "{}.{}".format(*sys.version_info[:2])
    by_fit = sorted(FOR_USERS, key=lambda name: (running not in PYTHONS[name], not _is_current(name)))
    for name in by_fit:
        if _is_current(name) or find_python(PYTHONS[name]):
            return name
    raise host.BuildError(
        "Blender's Python packages need Python 3.11 or 3.13 and this is {}: install one of them "
        "(python.org, pyenv, or `apt install python3.11 python3.11-venv`), or give --blender PATH.".format(running)
    )


def find_python(versions):
    """A Python of one of these versions that can make environments: this one, on PATH, or pyenv's."""
    for version in versions:
        for candidate in _candidates(version):
            if _probe(candidate) == version:
                return candidate
        if sys.version_info[:2] == tuple(map(int, version.split("."))) and host.is_debian_root():
            host.apt_install(["python{}-venv".format(version)], "Python environments")
            if _probe([sys.executable]) == version:
                return [sys.executable]
    return None


def _candidates(version):
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield [sys.executable]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    newest_first = sorted(pyenv.glob(version + ".*"), key=lambda path: _numbers(path.name), reverse=True)
    for folder in newest_first:
        yield [str(folder / "bin" / "python")]
    on_path = shutil.which("python" + version)
    if on_path:
        yield [on_path]
    if os.name == "nt" and shutil.which("py"):
        yield ["py", "-" + version]


def _numbers(text):
    return [int(part) for part in re.findall(r"\d+", text)]


def _probe(command):
    try:
        result = subprocess.run([*command, "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def _interpreter(name):
    return FOLDER / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _pins_file(name):
    return PINS / (name + ".txt")


def _pins_hash(name):
    return hashlib.sha256(_pins_file(name).read_bytes()).hexdigest()


def _is_current(name):
    stamp = FOLDER / name / STAMP
    try:
        return stamp.read_text(encoding="utf-8") == _pins_hash(name) and _interpreter(name).exists()
    except OSError:
        return False


def _was_made_with_these_pins(name):
    """True for an environment that has every pinned version but no stamp (made by hand)."""
    if not _interpreter(name).exists():
        return False
    wanted = {_pin(line) for line in _pins_file(name).read_text().splitlines() if "==" in line}
    result = subprocess.run([str(_interpreter(name)), "-c", INSTALLED], stdout=subprocess.PIPE, text=True)
    return wanted <= {_pin(line) for line in result.stdout.splitlines()}


def _pin(line):
    name, version = line.split(";")[0].strip().split("==")
    return re.sub(r"[-_.]+", "-", name).lower(), version


def _build(name):
    base = find_python(PYTHONS[name])
    if not base:
        wanted = " or ".join(PYTHONS[name])
        raise host.UnavailableError(
            "the environment {} needs Python {}: install it (python.org, pyenv or your package manager)".format(
                name, wanted
            )
        )
    folder = FOLDER / name
    host.say("making the environment {} (once{})".format(folder, ", about 400 MB" if name in WHEELS else ""))
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    host.check_run([*base, "-m", "venv", folder], "making " + str(folder))
    pip = [_interpreter(name), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    host.check_run([*pip, "-r", _pins_file(name)], "installing the packages of " + name)


def pins(name):
    return _pins_file(name).read_text(encoding="utf-8").split("\n")
