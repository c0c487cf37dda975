"""One timing at a time, on request: the driver asks several processes in turn, so that what it compares is interleaved.

A worker prints `BENCH` and JSON on a line of its own: first the tasks it offers, then an answer to every line it reads.
"""

import json
import sys
import time

SHORTEST, TRIES = 0.003, 5  # [s] of one timing, quicker calls are repeated within it; the quickest of so many counts


class Task:
    """Something to time: `call` after `prepare`, which is not timed.

    once: taken once per timing, not repeated.  repeats: how many of the thing one call does.
    """

    def __init__(self, call, prepare=None, once=False, repeats=1):
        self.call, self.prepare, self.once, self.repeats = call, prepare, once, repeats
        self.inner = 1 if once else 0

    def sample(self):
        """Seconds of one of the thing."""
        if not self.inner:
            self._calibrate()
        if self.prepare is not None:
            self.prepare()
        return min(self._timing() for _ in range(1 if self.once else TRIES)) / self.repeats

    def _timing(self):
        start = time.perf_counter()
        for _ in range(self.inner):
            self.call()
        return (time.perf_counter() - start) / self.inner

    def _calibrate(self):
        if self.prepare is not None:
            self.prepare()
        self.call()
        start = time.perf_counter()
        self.call()
        self.inner = max(1, round(SHORTEST / max(time.perf_counter() - start, 1e-7)))


def serve(tasks, facts):
    """Answer requests until the input ends.  facts: what the worker tells about itself (versions, tables)."""
    _answer({"tasks": sorted(tasks), "facts": facts})
    for line in sys.stdin:
        _answer({"seconds": tasks[line.strip()].sample()})


def _answer(content):
    print("\nBENCH " + json.dumps(content), flush=True)
