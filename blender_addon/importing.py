"""Bring a file's objects into the open scene: the right importer, its noise caught, its refusals in a sentence.

FBX is read by `import_scene.fbx`, the Python importer: it is in every Blender from 4.2 on and gives the same rig and
keys in all of them.  `wm.fbx_import` (from 4.5) is used only for text FBX, which the other cannot read.
"""

import contextlib
import json
import os
import re
import shutil
import struct
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..core.errors import CoreError
from . import clip

FORMATS = (".blend", ".fbx", ".glb", ".gltf", ".vrm", ".bvh")


class FileError(CoreError):
    """A file that cannot be read or written."""


def load(path):
    """Open a .blend, or import anything else into an empty scene."""
    path = check(path)
    if path.suffix.lower() == ".blend":
        with _told(path, "Blender file"):
            bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
        return Stances()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return add(path)


def add(path):
    """Import a file into the open scene (of a .blend: its armatures); gives the Stances of what it brought."""
    path = check(path)
    kind = path.suffix.lower()
    with (
        Stances.watched(kind in (".fbx", ".glb", ".gltf", ".vrm")) as stances,
        tempfile.TemporaryDirectory(prefix="parametric_dynamics_") as folder,
    ):
        if kind == ".vrm":  # glTF by another name, which the importer refuses
            path = Path(shutil.copy(path, Path(folder) / (path.stem + ".glb")))
        with _told(path, kind[1:].upper() if kind != ".blend" else "Blender file"):
            _IMPORTERS[kind](path)
            bpy.context.view_layer.update()
    return stances


def file_and_action(text):
    """(path or None, action or None) of FILE, FILE/ACTION, or the name of an action."""
    for path, action in ((Path(text), None), (Path(text).parent, Path(text).name)):
        if path.suffix.lower() in FORMATS:
            return path, action
    return None, text


def check(path):
    """The path as Path, if it is a whole file of a format we read; FileError with the cure where not."""
    path = Path(path)
    kind = path.suffix.lower()
    if path.is_dir():
        raise FileError("'{}' is a folder. Name a file in it.".format(path))
    if not path.is_file():
        raise FileError("There is no file '{}'. Check the path.".format(path))
    if kind == ".vrma":
        raise FileError(
            "'{}' holds a motion without an armature. Play it on a VRM character in Blender (VRM add-on) "
            "and save that as .blend.".format(path.name)
        )
    if kind not in FORMATS:
        raise FileError("'{}' is no file I can read. Use one of {}.".format(path.name, ", ".join(FORMATS)))
    with open(path, "rb") as stream:
        _CHECKS[kind](path, stream.read(64), path.stat().st_size)
    return path


# -- is it what its name says ----------------------------------------------------------------------------------------


def _check_blend(path, head, size):
    if not head.startswith((b"BLENDER", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")):
        raise FileError("'{}' is not a Blender file. Save it from Blender again.".format(path.name))


def _check_fbx(path, head, size):
    if head.startswith(b"Kaydara FBX Binary"):
        return
    if not head.lstrip().startswith(b"; FBX"):
        raise FileError("'{}' is not an FBX file. Export it as FBX again.".format(path.name))
    if not hasattr(bpy.types, "WM_OT_fbx_import"):
        raise FileError("'{}' is a text FBX. Export it as binary FBX or use Blender 4.5 or newer.".format(path.name))


def _check_glb(path, head, size):
    if len(head) < 12 or head[:4] != b"glTF":
        raise FileError("'{}' is not a binary glTF file. Export it as .glb again.".format(path.name))
    whole = struct.unpack("<I", head[8:12])[0]
    if size < whole:
        text = "'{}' is cut short ({} of {} bytes). Copy or export it again."
        raise FileError(text.format(path.name, size, whole))


def _check_gltf(path, head, size):
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        buffers = [item.get("uri", "") for item in content.get("buffers", [])]
    except (ValueError, AttributeError):
        raise FileError("'{}' is not a glTF file. Export it as .gltf or .glb again.".format(path.name)) from None
    for uri in buffers:
        if uri and not uri.startswith("data:") and not (path.parent / _unquoted(uri)).is_file():
            raise FileError("'{}' needs the file '{}' beside it. Copy that too.".format(path.name, uri))


def _unquoted(uri):
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda found: chr(int(found.group(1), 16)), uri)


def _check_bvh(path, head, size):
    if not head.lstrip().upper().startswith(b"HIERARCHY"):
        raise FileError("'{}' is not a BVH file. Export it as BVH again.".format(path.name))


_CHECKS = {
    ".blend": _check_blend,
    ".fbx": _check_fbx,
    ".glb": _check_glb,
    ".vrm": _check_glb,
    ".gltf": _check_gltf,
    ".bvh": _check_bvh,
}


# -- importers -------------------------------------------------------------------------------------------------------


def _import_fbx(path):
    with open(path, "rb") as stream:
        binary = stream.read(7) == b"Kaydara"
    if binary:
        bpy.ops.import_scene.fbx(filepath=str(path))
    else:
        bpy.ops.wm.fbx_import(filepath=str(path))


def _import_gltf(path):
    bpy.ops.import_scene.gltf(filepath=str(path))


def _import_bvh(path):
    axes = {"axis_forward": "Y", "axis_up": "Z"} if stands_on_z(path) else {}
    bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True, update_scene_duration=True, **axes)
    _whole_rate(path, bpy.context.scene.render)


def _whole_rate(path, render):
    """Take a frame time that was only rounded in print (0.008333, .03333) for the whole rate it means (120, 30)."""
    printed = re.search(r"Frame Time:\s*([0-9.eE+-]+)", path.read_text(encoding="utf-8", errors="replace"))
    if printed is None:
        return
    digits = printed.group(1).partition(".")[2]
    if digits.isdigit() and abs(1.0 / render.fps - float(printed.group(1))) <= 0.5 * 10.0 ** -len(digits):
        render.fps_base = 1.0


def _append_blend(path):
    """The armatures of another .blend, with what they need, as local copies."""
    with bpy.data.libraries.load(str(path), link=False) as (there, here):
        here.objects, here.actions = list(there.objects), list(there.actions)
    for item in here.objects:
        if item is not None and item.type == "ARMATURE":
            bpy.context.scene.collection.objects.link(item)
    bpy.data.batch_remove([item for item in here.objects if item is not None and not item.users_scene])


_IMPORTERS = {
    ".fbx": _import_fbx,
    ".glb": _import_gltf,
    ".gltf": _import_gltf,
    ".vrm": _import_gltf,
    ".bvh": _import_bvh,
    ".blend": _append_blend,
}


def stands_on_z(path):
    """Whether a BVH file has its height on Z.

    Two things must agree, for animals are longer than high: the rest pose reaches farther along Z than along Y, and
    the root stays above the origin along Z more steadily than along Y.
    """
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    hierarchy, _, motion = text.partition("MOTION")
    heads, stack = [], [np.zeros(3)]
    for word, numbers in re.findall(r"(OFFSET|\})([^\n]*)", hierarchy):
        if word == "OFFSET":
            stack.append(stack[-1] + np.array(numbers.split()[:3], dtype=np.float64))
            heads.append(stack[-1])
        elif len(stack) > 1:
            stack.pop()
    channels = re.search(r"CHANNELS\s+\d+([^\n]*)", hierarchy)
    columns = channels.group(1).split() if channels else []
    if not heads or "Yposition" not in columns or "Zposition" not in columns:
        return False
    _, tall, high = np.ptp(np.array(heads), axis=0)
    rows = [line.split()[:6] for line in motion.splitlines()[3:] if len(line.split()) >= 6]
    if high <= 1.5 * tall or not rows:
        return False
    root = np.array(rows, dtype=np.float64)
    y, z = root[:, columns.index("Yposition")], root[:, columns.index("Zposition")]
    return z.mean() > 0.3 * high and z.mean() * (y.std() + 1e-9) > y.mean() * (z.std() + 1e-9)


# -- what the importer says ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _told(path, kind):
    """Catch what the operator prints, and turn its error into one sentence."""
    try:
        with quiet():
            yield
    except FileError:
        raise
    except Exception as error:  # importers raise whatever their parser met
        text = "'{}' could not be read as {} ({}). Export or copy it again."
        raise FileError(text.format(path.name, kind, reason(error))) from error


def reason(error):
    """What an exception says for people: the system's words, or the last line that is none of Python's own."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("File ", "Location:", "Traceback"))] or [
        type(error).__name__
    ]
    return re.sub(r"^(\w*Error: )+(\[Errno \d+\] )?", "", lines[-1]).rstrip(".")


@contextlib.contextmanager
def quiet():
    """Send what C and Python write to the standard streams to nowhere: they belong to the caller's commands."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(1), os.dup(2)]
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        with open(os.devnull, "w") as text, contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for target, old in zip((1, 2), saved, strict=True):
            os.dup2(old, target)
            os.close(old)
        os.close(sink)


# -- the file's own pose ---------------------------------------------------------------------------------------------


class Stances:
    """The poses that a file itself gives its armatures, before one of its clips was played on them.

    Importers set the file's own pose, then leave some clip active, and Blender's next update writes that clip over
    the stored values: bones that another clip does not key would keep its residue.
    """

    def __init__(self):
        self._poses, self._done = {}, set()

    @classmethod
    @contextlib.contextmanager
    def watched(cls, needed=True):
        """Stances that note every armature until the first update that would play a clip on it.

        needed: False where the importer leaves one clip only (BVH's also moves the object after assigning it).
        """
        stances = cls()

        @persistent
        def note(scene, *_):
            for item in scene.objects:
                if needed and item.type == "ARMATURE" and item.name not in stances._done:
                    stances._note(item)

        bpy.app.handlers.depsgraph_update_pre.append(note)
        try:
            yield stances
        finally:
            bpy.app.handlers.depsgraph_update_pre.remove(note)

    def _note(self, armature):
        if armature.pose is None or len(armature.pose.bones) != len(armature.data.bones):
            return
        names = [bone.name for bone in armature.pose.bones]
        self._poses[armature.name] = clip.stored_channels(armature, names, [0.0])
        data = armature.animation_data
        if data is not None and data.action is not None:
            self._done.add(armature.name)

    def of(self, armature):
        """Channels of one frame, or None for an armature that no import brought."""
        return self._poses.get(armature.name)
