"""Which of some machines bear a load within limits."""

from __future__ import annotations

import json
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from os import PathLike
from typing import Any, Iterable, Mapping

from ._native import Job, Machine, plan_machine
from ._spread import cores


def plan(
    machines: Iterable[Machine | str | PathLike[str]],
    job: Job,
    limits: Mapping[str, str | float],
    executor: Executor | None = None,
    *,
    requests: int = 20_000,
    seed: int = 1,
) -> list[dict[str, Any]]:
    """The rows of ``seekwell machine plan --json``: what each machine gives under the load, the
    highest load at which it keeps all limits (``{"p99": "5ms"}``), and where it breaks.

    ``executor`` is any of ``concurrent.futures``; without one, threads on all cores.
    """
    loaded = [m if isinstance(m, Machine) else Machine.load(m) for m in machines]
    bounds = [f"{figure}={bound}" for figure, bound in limits.items()]
    call = partial(plan_machine, job=job, limits=bounds, requests=requests, seed=seed)
    with nullcontext(executor) if executor else ThreadPoolExecutor(cores()) as workers:
        return [json.loads(row) for row in workers.map(call, loaded)]
