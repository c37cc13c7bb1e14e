"""Ray as an executor, for models and statistics; never for measurements, which its daemons would
disturb. Installed with ``pyseekwell[ray]``."""

from __future__ import annotations

import os
from concurrent.futures import Executor, Future
from typing import Any, Callable

import ray

RETRIES = 3
"""How often a task is tried again whose worker died."""


class RayExecutor(Executor):
    """Runs each call as a task of Ray. A task whose worker dies is tried again."""

    def __init__(self, address: str | None, workers: int | None):
        self._own = not ray.is_initialized()
        if self._own:
            # Nothing is sent anywhere unless the user says so.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            ray.init(
                address=address, num_cpus=workers, include_dashboard=False, log_to_driver=False
            )
        self._waiting: set[Any] = set()
        # As the executors of Python call it.
        self._max_workers = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        ref = ray.remote(_call).options(max_retries=RETRIES).remote(fn, args, kwargs)
        future: Future[Any] = ref.future()
        self._waiting.add(ref)
        future.add_done_callback(lambda _: self._waiting.discard(ref))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        waiting = list(self._waiting)
        if cancel_futures:
            for ref in waiting:
                ray.cancel(ref)
        if wait and waiting:
            ray.wait(waiting, num_returns=len(waiting))
        if self._own and ray.is_initialized():
            ray.shutdown()


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)


def executor(address: str | None = None, workers: int | None = None) -> RayExecutor:
    """An executor on a cluster of Ray; without an address on one of this machine's own, which has
    as many workers as cores unless ``workers`` says otherwise."""
    return RayExecutor(address, workers)
