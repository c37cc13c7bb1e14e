"""How a sweep scales: ``python -m seekwell.bench``.

Rounds of the same sweep in one thread, in two and, where it is installed, on Ray with two workers,
one after the other, so that whatever else the machine does meets all alike. Ray runs in its own
rounds only: its daemons would slow the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Callable

from . import Cell, Job, Machine, grid, sweep
from ._spread import cores

WORKERS = 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m seekwell.bench", description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runtime", default="10s", help="modelled time of a cell")
    asked = parser.parse_args()
    job = Job(rw="randread", bs="4k", iodepth=8, runtime=asked.runtime)
    cells = grid(Cell(Machine.load("sata-7200"), job), seed=range(asked.cells))
    taken: dict[str, list[float]] = {}
    executors: dict[str, Callable[[], Executor]] = {
        "1 thread": partial(ThreadPoolExecutor, 1),
        f"{WORKERS} threads": partial(ThreadPoolExecutor, WORKERS),
    }
    if importlib.util.find_spec("ray"):
        from .ray import executor as ray_executor

        executors["Ray"] = partial(ray_executor, workers=WORKERS)
    else:
        print("skipped: Ray is not installed")
    for at in range(1, asked.rounds + 1):
        for name, start in executors.items():
            with start() as executor:
                # Workers start, and load what they need.
                sweep(cells[: 8 * WORKERS], executor, chunk=1)
                begun = time.perf_counter()
                sweep(cells, executor)
                taken.setdefault(name, []).append(time.perf_counter() - begun)
            print(f"round {at}, {name}: {taken[name][-1]:.2f} s", flush=True)
    _show(taken, len(cells))


def _show(taken: dict[str, list[float]], cells: int) -> None:
    print(f"\n{cells} cells on {cores()} cores, medians of rounds:\n")
    print("| executor | seconds | cells/s |\n|---|---|---|")
    for name, seconds in taken.items():
        print(f"| {name} | {median(seconds):.2f} | {cells / median(seconds):.0f} |")
    one, two, *ray = taken.values()
    # Each round's own ratio: what slows a round slows both.
    print(f"\n{WORKERS} threads beside one: {median(a / b for a, b in zip(one, two)):.2f} ×")
    for seconds in ray:
        over = median(WORKERS * (a - b) / cells * 1e3 for a, b in zip(seconds, two))
        print(f"Ray beside threads: {over:+.3f} ms of a worker's time for each cell")


if __name__ == "__main__":
    main()
