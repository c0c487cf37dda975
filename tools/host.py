"""The machine: folders, messages, locks, subprocesses, system packages."""

import contextlib
import ctypes
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "parametric_dynamics"
DATA = Path(os.environ.get("PARAMETRIC_DYNAMICS_DATA") or REPO.parent / "shared" / "data").resolve()
TESTS_OUT = REPO / "tests_out"
ONE_THREAD = {name + "_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}  # for libraries of linear algebra

BLENDER_LIBRARIES = {  # what `import bpy` and a Workbench render load from the system
    "libX11.so.6": "libx11-6",
    "libXrender.so.1": "libxrender1",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libEGL_mesa.so.0": "libegl-mesa0",
    "libgomp.so.1": "libgomp1",
}


class BuildError(Exception):
    """Something the user can cure; the message says how, in one sentence."""


class UnavailableError(BuildError):
    """A stage that cannot run on this machine; the message is the reason to print."""


_print_lock = threading.Lock()


def say(text):
    with _print_lock:
        print("build.py:", text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def lock(name):
    """Hold a machine-wide lock, so that two builds never write the same folder."""
    path = CACHE / "locks" / (name + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as handle:
        waiting = False
        while not _try_lock(handle):
            if not waiting:
                say("waiting for another build that holds {}".format(path))
                waiting = True
            time.sleep(0.5)
        yield  # closing the file lets the lock go, also where this process is killed


def _try_lock(handle):
    try:
        if os.name == "nt":
            import msvcrt

            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def check_run(command, what, **options):
    """Run a preparation step quietly; show its output only where it fails."""
    try:
        result = subprocess.run(
            [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
        )
    except OSError as error:
        raise BuildError("{} failed: {}".format(what, error)) from error
    if result.returncode:
        raise BuildError("{} failed:\n{}".format(what, result.stdout[-4000:].rstrip()))
    return result.stdout


def is_debian_root():
    return sys.platform == "linux" and os.geteuid() == 0 and bool(shutil.which("apt-get"))


def apt_install(packages, why):
    """Install Debian packages; raises where this user or system cannot."""
    if not is_debian_root():
        raise BuildError(
            "{} needs system packages: install {} (Debian and Ubuntu names).".format(why, " ".join(packages))
        )
    say("installing system packages for {}: {}".format(why, " ".join(packages)))
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    with lock("apt"):
        check_run(["apt-get", "update", "-qq"], "apt-get update", env=environment)
        command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
        check_run(command, "apt-get install", env=environment)


def need_program(program, package, why):
    if not shutil.which(program):
        apt_install([package], why)


def need_blender_libraries():
    """Blender's wheels bring most of their libraries, but not these."""
    if sys.platform != "linux":
        return
    missing = [package for soname, package in BLENDER_LIBRARIES.items() if not _loads(soname)]
    if missing:
        apt_install([*missing, "libgl1-mesa-dri"], "Blender")


def _loads(soname):
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def describe():
    return "{} {}, Python {}".format(platform.system(), platform.machine(), platform.python_version())
