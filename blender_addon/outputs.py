"""Files that a command writes: all of them or none.

Every file is first written beside its place under another name and only renamed when the command has done everything.
"""

import os
from pathlib import Path

from .importing import FileError

FORMATS = (".blend", ".fbx", ".glb", ".bvh")
HIDDEN = ".parametric_dynamics_"


class Outputs:
    """The files a command was asked for: {kind: path or None} with kind "out", "report", "preview" or "log".

    Refuses what cannot work before anything is computed.  As a context manager: `staged(kind)` gives a path to write
    to; leaving without an exception puts everything in place, leaving with one leaves nothing behind.
    """

    def __init__(self, wanted, inputs=()):
        self.paths = {kind: Path(path).absolute() for kind, path in wanted.items() if path is not None}
        self._folders, self._staged = [], {}
        for kind, path in self.paths.items():
            _check(kind, path)
        taken = {Path(path).resolve() for path in inputs if path is not None}
        for path in self.paths.values():
            if path.resolve() in taken:
                raise FileError("'{}' is named twice. Write each result to a file of its own.".format(path))
            taken.add(path.resolve())

    def __contains__(self, kind):
        return kind in self.paths

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None:
                self._commit()
        finally:
            self._discard()

    def staged(self, kind):
        """Where to write that file for now."""
        path = self.paths[kind]
        try:
            self._make(path.parent)
        except OSError as problem:
            text = "The folder '{}' cannot be made: {}. Choose another."
            raise FileError(text.format(path.parent, problem.strerror)) from None
        self._staged[kind] = path.with_name(HIDDEN + str(os.getpid()) + "_" + path.name)
        return self._staged[kind]

    def _make(self, folder):
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for item in reversed(missing):
            item.mkdir()
            self._folders.append(item)

    def _commit(self):
        for kind, path in self._staged.items():
            os.replace(path, self.paths[kind])
        self._staged, self._folders = {}, []

    def _discard(self):
        for path in self._staged.values():
            path.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            if not any(folder.iterdir()):
                folder.rmdir()


def folder(path, what):
    """The folder of a path, which may not be there yet; what: is to be written into it."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise FileError("'{}' is a file. Name a folder for the {}.".format(path, what))
    return path


def _check(kind, path):
    suffix = path.suffix.lower()
    if kind == "out" and suffix not in FORMATS:
        raise FileError("'{}' is no file I can write. Name one that ends in {}.".format(path.name, ", ".join(FORMATS)))
    if kind == "preview" and suffix != ".png":
        raise FileError("The preview '{}' is a PNG picture. Name a file that ends in .png.".format(path.name))
    if kind == "log" and suffix != ".csv":
        raise FileError("The log '{}' is a table. Name a file that ends in .csv.".format(path.name))
    if path.is_dir():
        raise FileError("'{}' is a folder. Name a file in it.".format(path))
    there = next(folder for folder in path.parents if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise FileError("'{}' cannot be written. Choose a folder that you may write to.".format(path))
