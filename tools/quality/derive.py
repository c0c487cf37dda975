"""Derive thresholds of core/quality from half of the artist clips; needs numpy only.

    ENVS/core/bin/python -m tools.quality.derive          writes core/quality/thresholds_added.py
Reads what `read` has kept.  The other half of the clips is not opened.  thresholds.py was made by this script at commit
0a6f469 and is frozen: only the lines of checks that it lacks are written.  What the frozen checks would get today,
where their measurement was mended since, is printed beside what they keep.
"""

import textwrap
from pathlib import Path

import numpy as np

from core.quality import joints, thresholds, verdict
from core.quality.motion import grid, sampled

from . import cases, corpus, corruptions

TARGET = Path(__file__).resolve().parent.parent.parent / "core" / "quality" / "thresholds_added.py"
ARTIST = 1.0  # quantile: the most that artists do
# ... and the least that a broken motion shows.  Alone much of it can't be seen, so there half of it has to do.
BROKEN = {"alone": 0.5, "beyond": 0.1}
WIDER, ROOM = 15.0, 0.25  # [deg] and part by which ranges of joints are wider than the artists'
THIN = (
    25.0  # [deg] more where a single clip of its kind of figure was seen; such figures have ranges beyond a clip only
)
# Where between the artists' most and the least of broken motion the two lines are, by ratio: nearer to the broken
# motion, for there are hundreds of it and few artists.
LIMIT_AT, BAD_AT = 0.35, 0.65
STRONG = (
    3.0  # told this many times apart, a kind draws its check's lines alone; others draw them where no such kind does
)
# The lines are never nearer to the artists' most than this (another artist does a little more), and just there where no
# corruption needs the check.  Alone, nobody knows what the clip was meant to be, so the judge has to be patient.
LEAST_ROOM = {"alone": (2.0, 4.0), "beyond": (1.2, 1.5)}
NO_RIVAL = {"alone": (2.0, 4.0), "beyond": (1.5, 3.0)}

# What the eye doesn't see, whatever artists do: no line is derived from less.
LEAST = {
    "limits": 4.0,
    "penetration": 15.0,
    "slip": 2.0,
    "skid": 0.3,
    "floating": 2.0,
    "sinking": 2.0,
    "balance": 4.0,
    "momentum": 15.0,
    "speed": 150.0,
    "acceleration": 3000.0,
    "jerk": 15000.0,
    "travel": 0.3,
    "pop": 4.0,
    "jump": 3.0,
    "frozen": 0.15,
    "continuity": 1.0,
    "restraint": 30.0,
    "direction": 30.0,
    "delay": 0.05,
    "wobble": 0.5,
}
# Artists' game clips are over in half a second; the document (2001, ch. 5) asks for "a long enough relaxation" and
# fades his own over 2.7 s, which people graded good.  So this line is the document's.
DOCUMENT = {"settling": (2.7, 4.0)}
# No artist says how hard a blow was.  More momentum than a blow has comes from nowhere.
PHYSICS = {"gain": (0.2, 0.5)}
# Checks added after the freeze, each for a kind of broken motion that the frozen ones miss; its lines are drawn by that
ADDED = {"skid": "sliding", "delay": "backward"}
SEEDS = range(2)


def main():
    seen, _ = corpus.halves()
    ranges = joint_ranges([source for source in seen if source.path])
    print("ranges of joints:", "as frozen" if ranges == thresholds.RANGES else "others than the frozen ones")
    good = {stage: Values() for stage in ("alone", "beyond")}
    broken = {stage: {} for stage in good}
    for case in artists([source for source in seen if source.path]):  # the demo's clips are ours
        good[stage_of(case)].add(measured(case, ranges))
    for case in bases(seen):
        for kind in corruptions.KINDS:
            for seed in SEEDS:
                bad = corruptions.corrupt(lasting(case, kind), kind, 1, seed)
                if bad is not None:
                    for made in (bad, alone(bad)) if case.blow is None else (bad,):
                        broken[stage_of(made)].setdefault(kind.name + " (hit)" * (made.blow is not None), Values()).add(
                            measured(made, ranges)
                        )
    lines = {stage: limits(stage, good[stage], broken[stage]) for stage in good}
    added = {stage: {n: line for n, line in table.items() if n in ADDED}
             for stage, table in lines.items()}  # fmt: skip
    TARGET.write_text(source(added, len([s for s in seen if s.path])), encoding="utf-8")
    for stage, table in lines.items():
        for name, (limit, bad, why) in table.items():
            kept = thresholds.LIMITS[stage].get(name)
            known = "added" if kept is None else "keeps {:.4g}, {:.4g}".format(*kept)
            print("{:7} {:13} limit {:10.4g}  bad {:10.4g}  {}  {}".format(stage, name, limit, bad, known, why))


class Values:
    """Findings of several cases: {check: [values]}."""

    def __init__(self):
        self.of, self.least = {}, set()

    def add(self, findings):
        for f in findings:
            self.of.setdefault(f.name, []).append(f.value)
            if f.least:
                self.least.add(f.name)


def artists(sources):
    """What artists made: every clip alone, hits against their stance, idles against their first pose."""
    for source in sources:
        yield cases.plain(source)
        if source.kind == "hit":
            yield cases.hit(source)
        if source.kind == "idle":
            yield cases.posed(source)


def bases(sources):
    """What is broken: clips going on, artists' hits, and these carried over other bipeds' clips."""
    for source in sources:
        yield cases.hit(source) if source.kind == "hit" else cases.ongoing(source)
    yield from carried(sources)


def carried(sources):
    """One artist's hit of the same half over every clip of a biped that is no hit."""
    hits = [s for s in sources if s.kind == "hit" and s.character != "wolf" and cases.STRUCK[s.action] != "pelvis"]
    bipeds = [s for s in sources if s.kind != "hit" and s.character not in ("wolf", "fox") and not s.extra]
    for k, source in enumerate(bipeds):
        yield cases.carried(source, hits[k % len(hits)])


def lasting(case, kind):
    """The same case with as much time after the hit as the kind needs."""
    if case.blow is None or kind.lasts <= cases.TAIL:
        return case
    return case.again(kind.lasts)


def alone(case):
    return cases.Case(case.name, case.character, case.kind, case.actor, case.motion)


def stage_of(case):
    return "alone" if case.clip is None else "beyond"


def measured(case, ranges):
    return verdict.measure(case.actor, case.motion, case.clip, case.blow, ranges)


# -- ranges of joints -------------------------------------------------------------------------------------------------


def joint_ranges(sources):
    """{kind of figure: {role: (swing, twist, least bend, most bend, across)}} that artists use, and some room."""
    most = {}
    for source in sources:
        case = cases.plain(source)
        figure = verdict.figure_of(case.actor)
        motion = sampled(figure, case.motion, grid(case.motion))
        a = joints.angles(motion, joints.middle(motion))
        table = most.setdefault(case.actor.anatomy.kind, {})
        for role in set(figure.base) - {"pelvis", "tail"}:
            x = a[:, figure.having(role)].reshape(-1, 4)
            now = [x[:, 0].max(), x[:, 1].max(), x[:, 2].min(), x[:, 2].max(), x[:, 3].max()]
            old = table.get(role, now)
            table[role] = [min(o, n) if k == 2 else max(o, n) for k, (o, n) in enumerate(zip(old, now))]
    out = {kind: {role: wider(v, WIDER) for role, v in sorted(table.items())} for kind, table in most.items()}
    for kind in set(out) - {"biped"}:
        shared = {**most["biped"], **{r: join(v, most["biped"].get(r, v)) for r, v in most[kind].items()}}
        out[kind] = {role: wider(v, THIN) for role, v in sorted(shared.items())}
    return out


def join(a, b):
    return [min(x, y) if k == 2 else max(x, y) for k, (x, y) in enumerate(zip(a, b))]


def wider(row, by):
    return tuple(round(float(v + (-1.0 if k == 2 else 1.0) * (by + ROOM * abs(v))), 1) for k, v in enumerate(row))


# -- lines ------------------------------------------------------------------------------------------------------------


def limits(stage, good, broken):
    """{check: (limit, bad, why)}.

    A kind of corruption answers to the check that tells it best from artists; a check's lines lie between the most that
    artists do and the least of the kinds that answer to it, evenly by ratio (by difference where small is bad).
    """
    most, part = {name: artists_most(name, good) for name in good.of}, BROKEN[stage]
    answers = {}
    for kind, values in broken.items():
        asked = [n for n in values.of if ADDED.get(n, kind) in (kind, kind.removesuffix(" (hit)"))]
        told = {n: told_apart(n, values, good, most[n], part) for n in asked if n in most}
        best = max(told, key=told.get)
        if told[best] > 1.0:
            edge_value = float(np.quantile(values.of[best], edge(best, good, part)))
            answers.setdefault(best, {})[kind] = (edge_value, told[best])
        else:
            print("no check tells {} apart: {} comes nearest, {:.2f}".format(kind, best, told[best]))
    out = {}
    for name in most:
        rivals = answers.get(name, {})
        strong = [told for _, told in rivals.values() if told >= STRONG]
        rivals = {kind: value for kind, (value, told) in rivals.items() if told >= STRONG or not strong}
        if name in DOCUMENT:
            out[name] = (*DOCUMENT[name], "the document's")
        elif name in good.least:
            b = max(rivals.values()) if rivals else most[name] - abs(most[name])
            out[name] = (*(most[name] + at * (b - most[name]) for at in (LIMIT_AT, BAD_AT)), reason(most[name], rivals))
        elif rivals:
            b = min(rivals.values()) / most[name]
            lines = (max(b**at, room) for at, room in zip((LIMIT_AT, BAD_AT), LEAST_ROOM[stage]))
            out[name] = (*(most[name] * line for line in lines), reason(most[name], rivals))
        else:
            out[name] = (*(most[name] * at for at in NO_RIVAL[stage]), reason(most[name], rivals))
    if "response" in most:
        out |= {name: (*lines, "physics") for name, lines in PHYSICS.items()}
    return out


def artists_most(name, good):
    if name in good.least:
        return float(min(good.of[name]))
    return max(float(np.quantile(good.of[name], ARTIST)), LEAST.get(name, 0.0))


def edge(name, good, part):
    return 1.0 - part if name in good.least else part


def told_apart(name, values, good, most, part):
    """The least of a kind of broken motion as part of the most that artists do; above 1 the two don't meet.

    Where small is bad: 1 and how far below the artists' least, in units of how far these spread.
    """
    b = float(np.quantile(values.of[name], edge(name, good, part)))
    if name in good.least:
        spread = max(float(np.max(good.of[name])) - most, 0.5 * abs(most), 1e-9)
        return 1.0 + (most - b) / spread
    return b / (DOCUMENT[name][0] if name in DOCUMENT else most)


def reason(most, rivals):
    told = ", ".join("{} {:.4g}".format(kind, value) for kind, value in sorted(rivals.items(), key=lambda i: i[1]))
    return "artists {:.4g}{}".format(most, "; " + told if told else "")


# -- the file ---------------------------------------------------------------------------------------------------------


HEAD = '''"""Generated by tools/quality/derive.py from {} clips of artists; not edited by hand.

Checks that were added after thresholds.py was frozen, by the same rule.  See docs/quality.md.
"""

# check: limit, and the line from which it is bad
LIMITS: dict[str, dict[str, tuple[float, float]]] = {{'''


def source(lines, count):
    """The text of thresholds_added.py."""
    out = [HEAD.format(count)]
    for stage, table in lines.items():
        out += ['    "{}": {{'.format(stage)]
        for name, (limit, bad, why) in table.items():
            out += ["        # {}".format(part) for part in textwrap.wrap(why, 105)]
            out += ['        "{}": ({:.4g}, {:.4g}),'.format(name, limit, bad).replace("e+", "e")]
        out += ["    },"]
    return "\n".join([*out, "}", ""])


if __name__ == "__main__":
    main()
