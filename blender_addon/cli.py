"""The commands of `blender --command parametric_dynamics ...`; other programs call these.

main(argv) -> 0 done; 2 refused, with one line on stderr and nothing written.  Whatever else goes wrong is a bug and
shows as an exception.
"""

import argparse
import math
import sys

from ..core import situation as situations
from ..core import strength as strengths
from ..core import texts
from ..core.errors import CoreError
from . import blending, commands


class UsageError(CoreError):
    """The command line itself is wrong."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of three."""

    def error(self, message):
        raise UsageError("{}: {}. See --help.".format(self.prog, " ".join(message.split()).rstrip(".")))


def main(argv):
    """Run one command; the exit status."""
    try:
        options = parser().parse_args(_attached(argv))
        return options.run(options)
    except CoreError as refusal:
        print(" ".join(str(refusal).split()), file=sys.stderr)
        return 2
    except SystemExit as stop:  # --help
        return int(stop.code or 0)


def parser():
    """The parser of all commands."""
    top = Parser(prog="parametric_dynamics", description="Physical hit reactions on animated characters.")
    several = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    _inspect(several)
    _react(several)
    _library(several)
    _quality(several)
    _demo(several)
    return top


def _inspect(several):
    command = several.add_parser("inspect", help="what a file holds and what can be done with it")
    _input(command)
    command.add_argument("--report", metavar="FILE.json", help="the same as JSON")
    command.set_defaults(run=commands.inspect)


def _react(several):
    command = several.add_parser("react", help="let the character take a hit")
    _input(command)
    _hit(command)
    command.add_argument("--stumble", metavar="ACTION", help="an action that takes over from the hit on")
    text = "[s] of its transition; default {:g} {:g}".format(*blending.STUMBLE)
    command.add_argument("--stumble-times", type=number, nargs=2, metavar=("IN", "OUT"), help=text)
    command.add_argument(
        "--key-tolerance", type=tolerance, default=0.0, metavar="DEG", help="fewer keys, off by so much; 0: all frames"
    )
    text = "go over to this action afterwards (getting up): FILE, an action, or both; twice: to what fits better"
    command.add_argument("--then", metavar="FILE/ACTION", action="append", help=text)
    command.add_argument(
        "--then-blend", type=seconds, metavar="S", help="in which it takes over; default 0.5"
    )
    command.add_argument("--out", metavar="FILE", help="result as .blend, .fbx, .glb or .bvh")
    command.add_argument("--report", metavar="FILE.json", help="what was done, and measurements of it")
    command.add_argument("--preview", metavar="FILE.png", help="film strip, the original above the reaction")
    command.add_argument("--log", metavar="FILE.csv", help="what turned each joint in each sub-step, force by force")
    command.set_defaults(run=commands.react)


def _hit(command):
    """One hit by options, or any number of them from files."""
    xyz, own = ("X", "Y", "Z"), command.add_mutually_exclusive_group()
    command.add_argument("--hits", action="append", metavar="FILE.toml", help="a list of hits solved together, instead")
    files = "a preset, a .toml file, or a .txt of bones or a folder of them"
    command.add_argument("--situation", metavar="NAME_OR_FILE", help=files)
    command.add_argument("--frame", type=number, metavar="F", help="of the hit; default: a quarter into the clip")
    command.add_argument("--bone", metavar="B", help="name or role of the bone that is hit")
    command.add_argument("--direction", type=number, nargs=3, metavar=xyz, help="of the blow, in the world")
    command.add_argument(
        "--point", type=number, nargs=3, metavar=("LEFT", "FORWARD", "UP"), help="[m] off the bone's centre, on 1.75 m"
    )
    command.add_argument("--blast", type=number, nargs=3, metavar=xyz, help="a blast from this place of the scene")
    own.add_argument("--impulse", type=number, metavar="J", help="[N s] on a body of 1.75 m and 75 kg")
    own.add_argument("--strength", metavar="NAME", help="by name: " + ", ".join(strengths.presets()))
    own.add_argument("--striker", type=number, nargs=2, metavar=("MASS", "SPEED"), help="what hits, [kg] and [m/s]")
    own.add_argument("--angular", type=number, metavar="J", help="[N m s] about the direction, instead of a push")
    command.add_argument("--gain", type=number, metavar="G", help="times which the real thing is exaggerated")
    command.add_argument("--counter", type=number, metavar="G", help="times which bodies above a blow turn against it")
    command.add_argument("--whip", type=number, metavar="G", help="times which limbs that are not struck swing")
    command.add_argument("--dip", type=number, metavar="G", help="times which the body sinks on a leg that gives way")
    command.add_argument("--shift", type=number, metavar="G", help="times which the body goes off its place")
    command.add_argument("--influence", type=row, metavar="'1 0.8 0.5'", help="what shows by joints from the blow")
    command.add_argument("--tone-curve", type=points, metavar="'0 0.3, 0.8 1'", help="tone of the muscles by seconds")
    command.add_argument("--envelope-curve", type=points, metavar="'0 1, 2 0'", help="part that shows by seconds")
    command.add_argument("--ranges", type=angles, metavar="'neck 15'", help="legal angles by role, in degrees")
    command.add_argument("--light", action="store_const", const=False, help="bones don't feel each other's motion")
    command.add_argument("--seed", type=int, metavar="N", help="varies direction and strength; 0: nothing")
    command.add_argument(
        "--end", type=end, metavar="MODE", help="return to the clip, continue displaced, or stay, knocked out"
    )
    command.add_argument(
        "--ground", type=number, metavar="Z", help="height of the floor of a fall; default: the clip's"
    )
    command.add_argument("--drive", choices=("impulse", "velocities"), help="a blow, or the situation's velocities")


def _library(several):
    command = several.add_parser("library", help="many hits on many clips, a file for an engine each")
    _input(command)
    command.add_argument("--recipe", required=True, metavar="FILE.toml", help="lists of situations and clips")
    command.add_argument("--out", required=True, metavar="DIR", help="where the takes go")
    command.add_argument("--report", metavar="FILE.json", help="what was written and what was refused")
    command.set_defaults(run=commands.library)


def _quality(several):
    command = several.add_parser("quality", help="grade a clip by itself, against another, or as the answer to a hit")
    _input(command)
    command.add_argument(
        "--against", metavar="FILE/ACTION", help="the clip it was made from: FILE, an action of INPUT, or both"
    )
    command.add_argument("--frame", type=number, metavar="F", help="of a hit; needs --against and --direction")
    command.add_argument("--bone", default="chest", metavar="B", help="name or role of the bone that is hit")
    command.add_argument("--direction", type=number, nargs=3, metavar=("X", "Y", "Z"), help="of the blow, in the world")
    command.add_argument("--impulse", type=number, default=0.0, metavar="J", help="[N s], if known")
    command.add_argument("--report", metavar="FILE.json", help="the same as JSON")
    command.set_defaults(run=commands.grade)


def _demo(several):
    command = several.add_parser("demo", help="a walking character is hit: demo.blend, .fbx, .png, .json")
    command.add_argument("--out", required=True, metavar="DIR", help="where the results go")
    command.set_defaults(run=commands.demo)


def _input(command):
    command.add_argument("input", metavar="INPUT", help="a .blend, .fbx, .glb, .gltf, .vrm or .bvh")
    command.add_argument("--armature", metavar="NAME", help="default: the one that moves")
    command.add_argument(
        "--action", metavar="NAME", help="default: the active one; in an import walk, idle, the longest"
    )
    command.add_argument("--clip", metavar="FILE", help="take the action from this file, for the same bone names")


def number(text):
    """A finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError("'{}' is not a finite number".format(text))
    return value


def tolerance(text):
    """An angle from 0 on."""
    value = number(text)
    if not 0.0 <= value <= 45.0:
        raise argparse.ArgumentTypeError("'{}' is not an angle from 0 to 45 degrees".format(text))
    return value


def seconds(text):
    """A length of time."""
    value = number(text)
    if not 0.05 <= value <= 10.0:
        raise argparse.ArgumentTypeError("'{}' is not a time from 0.05 to 10 seconds".format(text))
    return value


def points(text):
    """A curve as a file has it."""
    return [list(point) for point in _said(texts.curve, text)]


def row(text):
    """A list of numbers."""
    return list(_said(texts.numbers, text))


def angles(text):
    """Legal angles by role."""
    return {role: list(values) for role, values in _said(texts.ranges, text).items()}


def _said(read, text):
    try:
        return read(text, "it")
    except CoreError as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def end(text):
    """An end mode that exists."""
    if text == "hand_over":
        raise argparse.ArgumentTypeError("'hand_over' names no action; use return or stay, and --then ACTION")
    if text not in situations.ENDS:
        raise argparse.ArgumentTypeError("'{}' is unknown; use {}".format(text, " or ".join(situations.ENDS)))
    return text


def _attached(argv):
    """-1e-3 is a number, which argparse takes for an option: " -1e-3" it lets pass."""
    return [" " + word if word.startswith("-") and _is_number(word) else word for word in argv]


def _is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True
