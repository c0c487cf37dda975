"""Runs inside Blender or its wheel: install the packaged extension, then call its commands.

As a script: installed.py ZIP COMMAND ARGUMENTS...
"""

import ctypes
import importlib
import os
import sys
import tempfile
import traceback

MODULE = "bl_ext.user_default.parametric_dynamics"


def install(archive):
    """Install and enable the zip in BLENDER_USER_RESOURCES; returns the add-on's module."""
    if not os.environ.get("BLENDER_USER_RESOURCES"):
        raise RuntimeError("BLENDER_USER_RESOURCES must name a private folder before Blender starts.")
    import bpy

    with _StdoutAside() as aside:
        bpy.ops.extensions.package_install_files(
            repo="user_default", filepath=str(archive), enable_on_install=True, overwrite=True
        )
    if MODULE not in bpy.context.preferences.addons:
        raise RuntimeError("The extension {} could not be enabled:\n{}".format(archive, aside.text))
    return importlib.import_module(MODULE)


class _StdoutAside:
    """Keeps what Blender's operators write to the C stdout, which belongs to the command."""

    text = ""

    def __enter__(self):
        _flush()
        self.saved = os.dup(1)
        self.file = tempfile.TemporaryFile()
        os.dup2(self.file.fileno(), 1)
        return self

    def __exit__(self, *_):
        _flush()
        os.dup2(self.saved, 1)
        os.close(self.saved)
        self.file.seek(0)
        self.text = self.file.read().decode(errors="replace")
        self.file.close()


def _flush():
    """Python's buffer and the C library's, which Blender prints through."""
    sys.stdout.flush()
    (ctypes.cdll.ucrtbase if os.name == "nt" else ctypes.CDLL(None)).fflush(None)


def leave(status):
    """End at once: bpy 4.5 can hang and 4.2 can crash on a normal exit."""
    _flush()
    sys.stderr.flush()
    os._exit(status)


def main(archive, arguments):
    try:
        install(archive)
        cli = importlib.import_module(MODULE + ".blender_addon.cli")
        leave(int(cli.main(arguments) or 0))
    except SystemExit as stop:
        leave(stop.code if isinstance(stop.code, int) else 1 if stop.code else 0)
    except BaseException:
        traceback.print_exc()
        leave(1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
