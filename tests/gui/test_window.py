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

    def find_button(self, command: str) -> tuple[int, int]:
        """Where the button of an operator is: Ctrl C over a button copies what it runs."""
        left, top, width, height = self.state()["sidebar"]
        x = left + width // 2 - 20
        seen = []
        for y in range(top + STEP, top + height, STEP):
            self.xdotool("mousemove", x, y, "sleep", 0.12, "key", "ctrl+c", "sleep", 0.18)
            clipboard = self.state()["clipboard"]
            if clipboard not in seen:
                seen.append(clipboard)
            if command in clipboard:
                return x, y + STEP // 2
        self.picture("window_failed.png")
        pytest.fail(f"no button in the tab runs {command}; under the mouse were {seen}")

    def click(self, x: int, y: int):
        self.xdotool("mousemove", x, y, "sleep", 0.5, "click", 1)


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    OUT.mkdir(exist_ok=True)
    opened = Window(tmp_path_factory.mktemp("window"))
    try:
        opened.start()
        yield opened
    finally:
        opened.stop()


def test_the_tab_shows(window):
    time.sleep(0.5)
    picture = window.picture("window_tab.png")
    assert window.state()["tab"] == TAB
    colours = subprocess.run(["identify", "-format", "%k", str(picture)], capture_output=True, text=True, check=True)
    assert int(colours.stdout) > 100, "the picture is blank"
    assert not re.search(r"Traceback|Error:", window.log.read_text(errors="replace"))


def test_apply_pressed_with_the_mouse_adds_a_reaction(window):
    before = window.state()
    assert before["active"], "the demo character is not active"
    window.click(*window.find_button(APPLY))
    after = window.wait(lambda state: len(state["tracks"]) > len(before["tracks"]), 60, "a reaction's track")
    time.sleep(0.5)
    window.picture("window_applied.png")
    assert set(after["actions"]) - set(before["actions"]), "a reaction owns its action"
    assert not re.search(r"Traceback|Error:", window.log.read_text(errors="replace"))
