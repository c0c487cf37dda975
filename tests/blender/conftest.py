"""Tests inside Blender: the built zip is installed once, before any test module is imported.

Test modules may therefore import at their top:
    import bpy
    from bl_ext.user_default.parametric_dynamics.core import rotation
Never `import core`: that would be another copy than the one the add-on uses.
"""

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent.parent
HAS_BPY = "bpy" in sys.modules or importlib.util.find_spec("bpy") is not None
collect_ignore_glob = [] if HAS_BPY else ["test_*.py"]
ADDON = None
TO_REMOVE: list[str] = []

IMPORTERS = {
    ".fbx": lambda bpy, path: bpy.ops.import_scene.fbx(filepath=path),
    ".glb": lambda bpy, path: bpy.ops.import_scene.gltf(filepath=path),
    ".gltf": lambda bpy, path: bpy.ops.import_scene.gltf(filepath=path),
    ".bvh": lambda bpy, path: bpy.ops.import_anim.bvh(filepath=path, update_scene_fps=True, update_scene_duration=True),
}


def _install():
    private = os.environ.get("BLENDER_USER_RESOURCES")
    if "bpy" in sys.modules and not private:
        pytest.exit("Set BLENDER_USER_RESOURCES to a private folder: these tests install the add-on.", returncode=3)
    if not private:
        private = tempfile.mkdtemp(prefix="parametric_dynamics_")
        os.environ["BLENDER_USER_RESOURCES"] = private
        TO_REMOVE.append(private)
    # Blender looks for its user folders when it starts: the variable comes first.
    import bpy

    from tools import extension, installed

    archive = os.environ.get("PARAMETRIC_DYNAMICS_ZIP")
    if not archive:
        blender = bpy.app.binary_path
        builder = extension.builder_in_blender(blender) if blender else extension.builder_in_wheel(sys.executable)
        archive = extension.package(builder, Path(private) / "package")
    return installed.install(archive)


if HAS_BPY:
    ADDON = _install()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """At exit bpy 4.5 can hang and 4.2 can crash: in a wheel, end the process when the reports are written."""
    if not HAS_BPY or sys.modules["bpy"].app.binary_path:
        return
    status = getattr(config, "parametric_dynamics_status", 0)
    for folder in TO_REMOVE:
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    session.config.parametric_dynamics_status = int(exitstatus)


@pytest.fixture(scope="session")
def addon():
    """The installed and enabled add-on, bl_ext.user_default.parametric_dynamics."""
    return ADDON


@pytest.fixture
def fresh_scene(addon):
    """An empty file of factory settings, add-on enabled; gives bpy.context.scene."""
    return _new_file(addon, use_factory_startup=True, use_empty=True)


def _new_file(addon, **options):
    import bpy

    bpy.ops.wm.read_homefile(**options)
    assert addon.__name__ in bpy.context.preferences.addons
    return bpy.context.scene


@pytest.fixture(scope="session")
def template(addon, tmp_path_factory):
    """Call with a name of `_templates` for a scene of its own, like a fresh one, with that in it: opened from a file,
    a tenth of the time that making it takes.  Gives the active object."""
    import bpy

    folder, made = tmp_path_factory.mktemp("templates"), _templates()

    def call(name):
        path, (start, step) = folder / (name + ".blend"), made[name]
        if not path.exists():
            _new_file(addon, use_factory_startup=True, use_empty=True)
            if start:
                call(start)
            step()
            bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
        _new_file(addon, filepath=str(path), load_ui=False)
        return bpy.context.active_object

    return call


def _templates():
    """name -> (the one it starts from, what makes it then)."""
    import bpy

    from .control_tools import add_puppet
    from .interface_tools import OPS, short

    return {
        "character": ("", OPS.add_demo_character),
        "demo": ("character", lambda: short(bpy.context.active_object)),
        "hit": ("demo", lambda: OPS.apply_hit_reaction(frame=8.0)),
        "puppet": ("", add_puppet),
    }


@pytest.fixture
def character(template):
    """The demo character as its operator adds it, active."""
    return template("character")


@pytest.fixture
def demo(template):
    """The demo character, set to a short reaction."""
    return template("demo")


@pytest.fixture
def hit(template):
    """The demo character with a short reaction at frame 8."""
    return template("hit")


@pytest.fixture
def puppet(template):
    """The demo character on a control rig."""
    return template("puppet")


@pytest.fixture
def open_file(fresh_scene, tmp_path):
    """Call with a path to have the file opened (.blend) or imported; gives its armature objects, largest first.

    `clip`: a second file, imported after the first; the armatures it brings are removed and its actions stay.
    """
    return lambda path, clip=None: _open(Path(path), None if clip is None else Path(clip), tmp_path)


def _open(path, clip, folder):
    import bpy

    _load(path, folder)
    armatures = _armatures()
    if clip is not None:
        known = {armature.name for armature in armatures}
        _load(clip, folder)
        for armature in [item for item in _armatures() if item.name not in known]:
            bpy.data.objects.remove(armature)
        armatures = [bpy.data.objects[name] for name in known]
    armatures.sort(key=lambda item: (-len(item.data.bones), item.name))
    if armatures:
        bpy.context.view_layer.objects.active = armatures[0]
    return armatures


def _armatures():
    import bpy

    return [item for item in bpy.context.scene.objects if item.type == "ARMATURE"]


def _load(path, folder):
    import bpy

    assert path.is_file(), path
    suffix = path.suffix.lower()
    if suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
        return
    if suffix == ".vrm":  # glTF by another name, which the importer refuses
        path = Path(shutil.copy(path, folder / (path.stem + ".glb")))
        suffix = ".glb"
    assert IMPORTERS[suffix](bpy, str(path)) == {"FINISHED"}
