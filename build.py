#!/usr/bin/env python3
"""Set-up, demo, tests, bench and packaging of Parametric Dynamics; only Python's standard library, Python 3.9 or newer.

  setup                        make the environment that demo and run need
  demo [--out DIR]             a walking character is hit: demo.blend, demo.fbx, demo.png, demo.json
  run -- COMMAND ...           what `blender --command parametric_dynamics COMMAND ...` does
  test [-- PYTEST ARGUMENTS]   every test that can run here
  bench [--json FILE]          how fast it is, as ratios measured side by side
  package                      the extension's zip, in dist/

Environments live in $XDG_CACHE_HOME/parametric_dynamics (default ~/.cache) and are made once.
--blender PATH uses that Blender instead of a Blender wheel.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tools import benchmark, environments, extension, host, testing


def main(argv):
    argv, rest = _split(argv)
    options = _parser().parse_args(argv)
    if rest and options.command not in ("run", "test"):
        raise host.BuildError("'{}' takes no arguments after --.".format(options.command))
    if options.blender:
        options.blender = _find_blender(options.blender)
    return COMMANDS[options.command](options, rest)


def _split(argv):
    if "--" not in argv:
        return argv, []
    index = argv.index("--")
    return argv[:index], argv[index + 1 :]


def _parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        command = commands.add_parser(name)
        command.add_argument("--blender", metavar="PATH", help="a real Blender to use instead of a wheel")
        if name == "demo":
            command.add_argument("--out", metavar="DIR", default="demo_out", help="where the results go")
        if name == "bench":
            command.add_argument("--json", metavar="FILE", help="write the table there too")
    return parser


def _find_blender(path):
    found = shutil.which(path) or (path if Path(path).is_file() else None)
    if not found:
        raise host.BuildError("There is no Blender at {}: give the path of its executable.".format(path))
    return Path(found).resolve()


def setup(options, _rest):
    if options.blender:
        host.say("{} needs no set-up".format(options.blender))
    else:
        host.say("ready: {}".format(environments.python(environments.choose_wheel())))
    return 0


def demo(options, _rest):
    host.say("a walking character is hit, baked and exported; the results go to {}".format(options.out))
    return run(options, ["demo", "--out", str(Path(options.out).resolve())])


def run(options, arguments):
    if not arguments:
        raise host.BuildError("Say what to run, for example: build.py run -- inspect walk.fbx")
    with tempfile.TemporaryDirectory(prefix="parametric_dynamics_") as folder:
        archive, python = _package(options, Path(folder))
        if options.blender:
            return extension.command_in_blender(options.blender, archive, arguments)
        return extension.command_in_wheel(python, archive, arguments)


def test(options, arguments):
    return testing.run(arguments, options.blender)


def bench(options, _rest):
    return benchmark.run(options.blender, options.json)


def package(options, _rest):
    archive, _ = _package(options, host.REPO / "dist")
    print(archive)
    return 0


def _package(options, folder):
    if options.blender:
        return extension.package(extension.builder_in_blender(options.blender), folder), None
    name = environments.choose_wheel()
    python = environments.python(name)
    return extension.package(extension.builder_in_wheel(python), folder), python


COMMANDS = {"setup": setup, "demo": demo, "run": run, "test": test, "bench": bench, "package": package}


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except host.BuildError as error:
        host.say(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
