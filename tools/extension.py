"""The extension: built and validated with Blender's own tool, then used the way a user has it, installed."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import host

MODULE = "bl_ext.user_default.parametric_dynamics"
CONTENT = ("core", "blender_addon", "__init__.py", "blender_manifest.toml", "LICENSE", "README.md")
RUNNER = Path(__file__).resolve().parent / "installed.py"


def builder_in_wheel(python):
    """Blender's extension tool, run by the interpreter of a wheel's environment."""
    tools = Path(python).parent.parent.glob("**/addons_core/bl_pkg/cli/blender_ext.py")
    return [str(python), str(next(tools))]


def builder_in_blender(blender):
    return [str(blender), "--factory-startup", "--command", "extension"]


def package(builder, folder):
    """Build the zip from a clean copy of what belongs in it; returns its path in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="parametric_dynamics_") as temporary:
        source, output = Path(temporary) / "source", Path(temporary) / "output"
        output.mkdir()
        _stage(source)
        host.check_run([*builder, "build", "--source-dir", source, "--output-dir", output], "building the extension")
        archive = next(output.glob("*.zip"))
        host.check_run([*builder, "validate", archive], "validating the extension")
        return Path(shutil.move(str(archive), str(folder / archive.name)))


def _stage(source):
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
    source.mkdir()
    for name in CONTENT:
        path = host.REPO / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=ignore)
        elif path.exists():
            shutil.copy(path, source / name)


@contextlib.contextmanager
def private_resources():
    """An environment whose Blender keeps its preferences and extensions in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="parametric_dynamics_") as folder:
        yield dict(os.environ, BLENDER_USER_RESOURCES=folder)


def command_in_wheel(python, archive, arguments):
    """`blender --command parametric_dynamics ...` without a blender: the exit code is the command's."""
    with private_resources() as environment:
        return subprocess.run([str(python), "-P", str(RUNNER), str(archive), *arguments], env=environment).returncode


def command_in_blender(blender, archive, arguments):
    with private_resources() as environment:
        install = [blender, "--command", "extension", "install-file", "-r", "user_default", "-e", archive]
        host.check_run(install, "installing the extension", env=environment)
        command = [str(blender), "--command", "parametric_dynamics", *arguments]
        return subprocess.run(command, env=environment).returncode
