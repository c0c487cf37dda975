"""A real window: the tab is there, and its Apply button, pressed with the mouse, adds a reaction.

Runs where blender, Xvfb, xdotool and ImageMagick are (build.py test makes such a place); pictures go to tests_out/.
"""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ARCHIVE = os.environ.get("PARAMETRIC_DYNAMICS_ZIP", "")
OUT = Path(os.environ.get("PARAMETRIC_DYNAMICS_TESTS_OUT") or HERE.parent.parent / "tests_out")
PROGRAMS = ("blender", "Xvfb", "xdotool", "import", "identify")
SIZE = (1600, 900)
TAB = "Dynamics"
APPLY = "parametric_dynamics.apply_hit_reaction("
REMOVE = "parametric_dynamics.remove_reaction("
UPDATE = "parametric_dynamics.update_reaction("
ADD_HIT = "parametric_dynamics.add_hit("
REMOVE_HIT = "parametric_dynamics.remove_hit("
STEP = 9  # pixels between two looks for a button, which is 20 high

MISSING = [program for program in PROGRAMS if not shutil.which(program)]
pytestmark = pytest.mark.skipif(bool(MISSING or not ARCHIVE), reason=f"needs {', '.join(MISSING) or 'the built zip'}")


class Window:
    """Blender under a virtual screen, driven by mouse and keyboard."""

    def __init__(self, folder: Path):
        self.state_file = folder / "state.json"
        self.log = OUT / "window_blender.log"
        self.environment = dict(os.environ, LIBGL_ALWAYS_SOFTWARE="1", XDG_RUNTIME_DIR=str(folder))
        self.environment.setdefault("BLENDER_USER_RESOURCES", str(folder / "blender"))
        self.processes: list[subprocess.Popen] = []
        self.places: dict[tuple[str, float], tuple[int, int]] = {}

    def start(self):
        install = ["blender", "--command", "extension", "install-file", "-r", "user_default", "-e", ARCHIVE]
        subprocess.run(install, env=self.environment, check=True, stdout=subprocess.DEVNULL, timeout=120)
        self.environment["DISPLAY"] = ":" + self._start_screen()
        command = ["blender", "--window-geometry", "0", "0", *map(str, SIZE), "--python", HERE / "window_script.py"]
        with open(self.log, "wb") as log:
            self._launch([*command, "--", self.state_file, TAB], stdout=log, stderr=subprocess.STDOUT)
        self.wait(lambda state: state.get("ready"), 120, "the tab")

    def _start_screen(self) -> str:
        """Let the server choose a free display number and tell it."""
        reader, writer = os.pipe()
        screen = "{}x{}x24".format(*SIZE)
        command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", screen, "+extension", "GLX", "-nolisten", "tcp"]
        self._launch(command, pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writer)
        with open(reader) as pipe:
            return pipe.readline().strip()

    def _launch(self, command, **options):
        self.processes.append(subprocess.Popen([str(part) for part in command], env=self.environment, **options))

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def state(self) -> dict:
        try:
            state = json.loads(self.state_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        if "error" in state:
            pytest.fail(f"in Blender: {state['error']}")
        return state

    def wait(self, condition, seconds: float, what: str) -> dict:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.state()
            if condition(state):
                return state
            if self.processes[-1].poll() is not None:
                break
            time.sleep(0.05)
        self.picture("window_failed.png")
        pytest.fail(f"waited for {what}; Blender's log:\n{self.log.read_text(errors='replace')[-3000:]}")

    def xdotool(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=self.environment, check=True, timeout=30)

    def picture(self, name: str) -> Path:
        path = OUT / name
        subprocess.run(["import", "-window", "root", str(path)], env=self.environment, check=True, timeout=60)
        return path

    def look(self, name: str):
        """A picture, with the mouse in the tab: panels that move settle only there."""
        left, top, width, height = self.state()["sidebar"]
        for x in (width // 3, width // 4):
            self.xdotool("mousemove", left + x, top + 4 * height // 5, "sleep", 0.8)
        self.picture(name)

    def find_button(self, command: str, across: float = 0.43) -> tuple[int, int]:
        """Where the button of an operator is: Ctrl C over a button copies what it runs.  across: part of the width."""
        place = self.places.get((command, across))
        if place and command in self._copied(*place):
            return place
        self.do("bpy.context.window_manager.clipboard = ''")
        left, top, width, height = self.state()["sidebar"]
        x = left + int(across * width)
        seen = []
        for y in range(top + STEP, top + height, STEP):
            self.xdotool("mousemove", x, y, "sleep", 0.12, "key", "ctrl+c", "sleep", 0.18)
            clipboard = self.state()["clipboard"]
            if clipboard not in seen:
                seen.append(clipboard)
            if command in clipboard:  # Blender may lag behind the mouse: ask again where it should be
                nearby = (y, y - STEP, y - 2 * STEP, y - 3 * STEP)
                place = x, next(at for at in nearby if command in self._copied(x, at))
                self.places[command, across] = place
                return place
        self.picture("window_failed.png")
        pytest.fail(f"no button in the tab runs {command}; under the mouse were {seen}")

    def _copied(self, x: int, y: int) -> str:
        """What Ctrl C copies there, with time to come."""
        self.do("bpy.context.window_manager.clipboard = ''")
        self.xdotool("mousemove", x, y, "sleep", 0.4, "key", "ctrl+c", "sleep", 0.8)
        return self.state()["clipboard"]

    def click(self, x: int, y: int):
        self.xdotool("mousemove", x, y, "sleep", 0.5, "click", 1)

    def press(self, key: str):
        """A key over the middle of the 3D view."""
        self.xdotool("mousemove", SIZE[0] // 2, SIZE[1] // 2, "sleep", 0.3, "key", key)

    def do(self, source: str):
        """Run Python inside Blender, and wait until it has been run."""
        before = self.state()["done"]
        todo = self.state_file.with_name(self.state_file.name + ".todo")
        whole = todo.with_name(todo.name + ".new")  # not state.json.new: that is Blender's
        whole.write_text(source, encoding="utf-8")
        whole.rename(todo)
        self.wait(lambda state: state["done"] > before, 60, "Blender to run " + source)

    def apply(self):
        """A reaction, as one step of undo; the state with it."""
        self.do("with override(): bpy.ops.parametric_dynamics.apply_hit_reaction('EXEC_DEFAULT', True)")
        return self.wait(lambda state: state["reactions"], 60, "the reaction")

    def no_errors(self):
        assert not re.search(r"Traceback|Error:", self.log.read_text(errors="replace"))


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    OUT.mkdir(exist_ok=True)
    opened = Window(tmp_path_factory.mktemp("window"))
    try:
        opened.start()
        yield opened
    finally:
        opened.stop()


@pytest.fixture
def window(running):
    """With the demo character and nothing else, whatever another test has left."""
    running.do("restart()")
    return running


def test_the_tab_shows(window):
    time.sleep(0.5)
    picture = window.picture("window_tab.png")
    assert window.state()["tab"] == TAB
    colours = subprocess.run(["identify", "-format", "%k", str(picture)], capture_output=True, text=True, check=True)
    assert int(colours.stdout) > 100, "the picture is blank"
    window.no_errors()


def test_apply_pressed_with_the_mouse_adds_a_reaction(window):
    before = window.state()
    assert before["active"], "the demo character is not active"
    window.click(*window.find_button(APPLY))
    after = window.wait(lambda state: len(state["tracks"]) > len(before["tracks"]), 60, "a reaction's track")
    time.sleep(2.0)
    window.picture("window_applied.png")
    assert set(after["actions"]) - set(before["actions"]), "a reaction owns its action"
    assert len(after["reactions"]) == 1
    window.no_errors()


def test_undo_and_redo_take_one_step(window):
    """Apply goes on with a timer for a while: it must still be one step."""
    window.click(*window.find_button(APPLY))
    window.wait(lambda state: state["reactions"], 60, "the reaction")
    time.sleep(0.5)
    applied = window.state()
    window.press("ctrl+z")
    undone = window.wait(lambda state: not state["reactions"], 30, "undo of Apply")
    assert undone["tracks"] == [] and undone["active_action"] == "Walk"
    window.press("ctrl+shift+z")
    again = window.wait(lambda state: state["reactions"], 30, "redo of Apply")
    assert again["tracks"] == applied["tracks"] and again["turns"] == pytest.approx(applied["turns"])


def test_the_redo_panel_changes_the_reaction(window):
    """What F9 does when a value is changed there."""
    window.click(*window.find_button(APPLY))
    before = window.wait(lambda state: state["reactions"], 60, "the reaction")
    window.do(
        "last = bpy.context.window_manager.operators[-1]\n"
        "assert last.bl_idname == 'PARAMETRIC_DYNAMICS_OT_apply_hit_reaction', last.bl_idname\n"
        "last.properties.impulse = 0.5 * last.properties.impulse\n"
        "with override(): bpy.ops.ed.undo_redo('EXEC_DEFAULT', True)"  # True: undo steps are pushed as for a user
    )
    after = window.wait(lambda state: state["impulse"] == before["impulse"] / 2, 60, "the other reaction")
    assert after["reactions"] == before["reactions"] and after["tracks"] == before["tracks"]
    assert after["turns"] < 0.9 * before["turns"]
    window.no_errors()


def test_update_and_remove_pressed_with_the_mouse(window):
    before = window.apply()
    window.do("bpy.context.view_layer.objects.active.parametric_dynamics.impulse *= 2.0")
    window.click(*window.find_button(UPDATE, 0.3))
    after = window.wait(lambda state: state["turns"] > 1.1 * before["turns"], 60, "Update")
    assert after["reactions"] == before["reactions"]
    time.sleep(1.0)
    window.picture("window_updated.png")
    window.click(*window.find_button(REMOVE, 0.7))
    gone = window.wait(lambda state: not state["reactions"], 60, "Remove")
    assert gone["tracks"] == [] and gone["active_action"] == "Walk"
    window.press("ctrl+z")
    back = window.wait(lambda state: state["reactions"], 30, "undo of Remove")
    assert back["tracks"] == after["tracks"] and back["turns"] == pytest.approx(after["turns"])
    window.press("ctrl+z")
    window.wait(lambda state: state["turns"] == pytest.approx(before["turns"]), 30, "undo of Update")
    window.no_errors()


def test_a_value_typed_in_the_panel_is_told_until_it_is_taken_back(window):
    """By Ctrl C and Ctrl V over the field: a script's change would tell Blender nothing."""
    window.apply()
    field = window.find_button("8.0", 0.8)
    window.do("bpy.context.window_manager.clipboard = '16.0'")
    window.xdotool("mousemove", *field, "sleep", 0.5, "key", "ctrl+v")
    window.wait(lambda state: state["impulse"] == 16.0, 30, "the value")
    window.look("window_unapplied.png")
    window.click(*window.find_button("cure(kind='SHOW_OWN'"))
    window.wait(lambda state: state["impulse"] == 8.0, 30, "its own value")
    window.no_errors()


def test_escape_cancels_and_changes_nothing(window):
    group = "bpy.context.view_layer.objects.active.parametric_dynamics"
    # so slack that the body is off the clip all the time: what has come to rest is not simulated on
    window.do("group = {}; group.sustain, group.frequency, group.tone = 20.0, 0.1, 0.1".format(group))
    before = window.state()
    window.click(*window.find_button(APPLY))
    window.wait(lambda state: any("apply_hit" in name for name in state["modal"]), 60, "the simulation to go on")
    time.sleep(1.0)
    window.picture("window_simulating.png")
    window.press("Escape")
    after = window.wait(lambda state: not state["modal"], 10, "the simulation to stop")
    for key in ("reactions", "tracks", "actions", "turns", "active_action"):
        assert after[key] == before[key]
    window.no_errors()


def test_hits_are_listed_with_the_mouse(window):
    """The plus adds one, its neighbour on the list takes it away; each is one step of undo."""
    window.do("bpy.context.view_layer.objects.active.parametric_dynamics.sustain = 0.5")
    window.picture("window_one_hit.png")
    window.click(*window.find_button(ADD_HIT, 0.82))
    window.wait(lambda state: state["hits"] == 2, 30, "a list of two hits")
    window.look("window_two_hits.png")
    window.press("ctrl+z")
    window.wait(lambda state: state["hits"] == 0, 30, "undo of Add Hit")
    window.press("ctrl+shift+z")
    window.wait(lambda state: state["hits"] == 2, 30, "redo of Add Hit")
    window.do(
        "rig = bpy.context.view_layer.objects.active\n"
        "one, two = rig.parametric_dynamics_hits\n"
        "one.bone, one.strength, two.kind, two.origin = 'head', 'heavy_punch', 'RADIAL', (1.0, -2.0, 1.0)\n"
        "one.name, two.strength, two.frame = 'the punch', 'large_blast', 22.5\n"
    )
    window.look("window_blast.png")
    before = window.state()
    window.click(*window.find_button(APPLY))
    after = window.wait(lambda state: len(state["reactions"]) > len(before["reactions"]), 60, "their reaction")
    assert after["hits"] == 2
    window.look("window_hits_applied.png")
    window.click(*window.find_button(REMOVE_HIT, 0.82))
    window.wait(lambda state: state["hits"] == 1, 30, "a hit to be removed")  # it has a name, so it stays a list
    window.no_errors()


def test_the_command_line_knows_the_add_on(window):
    command = ["blender", "--background", "--command", "parametric_dynamics", "--help"]
    asked = subprocess.run(command, env=window.environment, capture_output=True, text=True, timeout=120)
    assert asked.returncode == 0, asked.stderr
    assert "react" in asked.stdout and "inspect" in asked.stdout


def test_pictures_of_all_panels(window):
    """Not judged here: for people, who see at a glance whether a label is cut off."""
    window.do(
        "from bl_ext.user_default.parametric_dynamics.blender_addon import panels, panels_quality\n"
        "open_panels([*(cls for cls in panels.CLASSES if hasattr(cls, 'bl_parent_id')), *panels_quality.CLASSES])\n"
        "rig = bpy.context.view_layer.objects.active\n"
        "rig.data.bones.active = rig.data.bones['upper_arm.L']\n"
        "rig.pose.bones['upper_arm.L'].dynamics_custom = True\n"
        "rig.parametric_dynamics.direction_mode = 'WORLD'\n"
        "rig.parametric_dynamics.envelope_mode = 'hold'\n"
        "rig.parametric_dynamics.sustain = 1.0\n"
        "with override(): bpy.ops.parametric_dynamics.apply_hit_reaction()\n"
        "rig.animation_data.nla_tracks[-1].mute = True\n"
        "with override(): bpy.ops.object.mode_set(mode='POSE'); bpy.ops.parametric_dynamics.recognise_bones()\n"
    )
    left, top, width, height = window.state()["sidebar"]
    for number in range(3):
        window.xdotool("mousemove", left + width // 3, top + height // 2, "sleep", 1.5)
        window.picture(f"window_panels_{number + 1}.png")
        window.xdotool("click", "--repeat", 12, "--delay", 40, 5)
    window.no_errors()


def test_a_fault_is_shown_where_it_is(window):
    """The button beside the worst of what the Quality sub-panel finds, pressed with the mouse."""
    window.do(
        "from bl_ext.user_default.parametric_dynamics.blender_addon import checks, panels, panels_quality, quality\n"
        "hide_panels([cls for cls in panels.CLASSES if hasattr(cls, 'bl_parent_id')])\n"
        "open_panels(panels_quality.CLASSES)\n"
        "rig = bpy.context.view_layer.objects.active\n"
        "rig.parametric_dynamics.impulse = 400.0\n"
        "with override(): bpy.ops.parametric_dynamics.apply_hit_reaction()\n"
        "found = quality.kept(checks.active_reaction(rig))\n"
        "check, row = next(item for item in quality.failures(found) if item[1]['bone'])\n"
        "bpy.context.window_manager.clipboard = '{} {} {}'.format(check, round(row['frame']), row['bone'])\n"
        "with override(): bpy.context.scene.frame_set(1)"
    )
    check, frame, bone = window.wait(lambda state: " " in state["clipboard"], 30, "a fault")["clipboard"].split(" ", 2)
    window.click(*window.find_button(f'go_to_fault(check="{check}"', 0.83))
    shown = window.wait(lambda state: state["mode"] == "POSE", 30, "pose mode")
    assert (shown["frame"], shown["bone"]) == (int(frame), bone)
    time.sleep(2.0)
    window.picture("window_quality.png")
    window.no_errors()
