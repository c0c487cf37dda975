"""A real Blender with a window, from Debian 13, in a folder of its own.

Nothing stays mounted: every entry makes a private mount namespace, and the repository, the data and the
cache appear in it under the paths they have outside.
"""

import hashlib
import os
import shlex
import shutil
import sys
import tempfile

from . import host

SUITE = "trixie"
ROOT = host.CACHE / "chroot" / SUITE
STAMP = host.CACHE / "chroot" / (SUITE + ".stamp")
MIRROR = "http://deb.debian.org/debian"
PACKAGES = (
    "blender",
    "xvfb",
    "xdotool",
    "xauth",
    "libgl1-mesa-dri",
    "libegl1",
    "libglx-mesa0",
    "python3-numpy",
    "python3-pytest",
    "python3-hypothesis",
    "python3-pil",
    "assimp-utils",
    "imagemagick",
    "x11-utils",
    "fonts-dejavu-core",
)

ENTER = r"""
set -e
root=$1; folder=$2; count=$3; shift 3
mount --bind /proc "$root/proc"
mount --bind /sys "$root/sys"
mount --rbind /dev "$root/dev"
while [ "$count" -gt 0 ]; do
    mkdir -p "$root$1"
    mount --bind "$1" "$root$1"
    shift; count=$((count - 1))
done
exec chroot "$root" /usr/bin/env -C "$folder" "$@"
"""


def enter(command, folder=None):
    """The command line that runs `command` inside, in `folder`."""
    folders = _shared_folders()
    folder = str(folder or host.REPO)
    head = ["unshare", "-m", "sh", "-c", ENTER, "enter", str(ROOT), folder, str(len(folders))]
    return [*head, *folders, *[str(part) for part in command]]


def _shared_folders():
    wanted = {str(path) for path in (host.REPO, host.CACHE, host.DATA, tempfile.gettempdir()) if os.path.isdir(path)}
    return sorted(wanted)


def wrapper():
    """An executable that behaves like the `blender` inside."""
    path = host.TESTS_OUT / "blender-{}".format(SUITE)
    path.parent.mkdir(exist_ok=True)
    words = " ".join(shlex.quote(word) for word in enter(["blender"]))
    path.write_text('#!/bin/sh\nexec {} "$@"\n'.format(words), encoding="utf-8")
    path.chmod(0o755)
    return path


def check_possible():
    """Raise `UnavailableError` with the reason where this machine cannot have the chroot."""
    if sys.platform != "linux" or not shutil.which("apt-get"):
        raise host.UnavailableError("a Debian 13 chroot needs a Debian or Ubuntu host")
    if os.geteuid() != 0:
        raise host.UnavailableError("a Debian 13 chroot needs root (run as root, or give --blender PATH)")
    try:
        host.check_run(["unshare", "-m", "true"], "a private mount namespace")
        host.need_program("debootstrap", "debootstrap", "the Debian 13 chroot")
    except host.BuildError as error:
        raise host.UnavailableError("a Debian 13 chroot is not possible here: {}".format(error)) from error


def ensure():
    """Build the chroot once; a half-built one is thrown away."""
    check_possible()
    with host.lock("chroot"):
        if STAMP.exists() and STAMP.read_text() == _pins():
            return
        STAMP.unlink(missing_ok=True)
        _build()
        STAMP.write_text(_pins())


def _pins():
    return hashlib.sha256("\n".join([SUITE, MIRROR, *PACKAGES]).encode()).hexdigest()


def _build():
    host.say("building a Debian 13 chroot with a real Blender in {} (once, a few minutes)".format(ROOT))
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.parent.mkdir(parents=True, exist_ok=True)
    host.check_run(["debootstrap", "--variant=minbase", SUITE, ROOT, MIRROR], "debootstrap")
    shutil.copy("/etc/resolv.conf", str(ROOT / "etc" / "resolv.conf"))
    _copy_apt_proxies()
    mtab = ROOT / "etc" / "mtab"
    mtab.unlink(missing_ok=True)
    mtab.symlink_to("/proc/mounts")
    script = "apt-get update -qq && apt-get install -y -qq --no-install-recommends {} && apt-get clean"
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive", LC_ALL="C.UTF-8")
    command = enter(["sh", "-c", script.format(" ".join(PACKAGES))], folder="/")
    host.check_run(command, "installing Blender in the chroot", env=environment)


def _copy_apt_proxies():
    """Go through the proxy that the host goes through, where it has one."""
    for source in ("/etc/apt/apt.conf", "/etc/apt/apt.conf.d"):
        if os.path.isfile(source):
            shutil.copy(source, str(ROOT) + source)
        elif os.path.isdir(source):
            for name in os.listdir(source):
                if "proxy" in name:
                    shutil.copy(os.path.join(source, name), str(ROOT) + source)
