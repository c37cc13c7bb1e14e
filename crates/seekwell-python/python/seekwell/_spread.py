"""Tasks on any executor."""

from __future__ import annotations

import os
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from typing import Any, Callable, Generator, Iterable, TypeVar

from ._native import Stop

Key = TypeVar("Key")


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def spread(
    executor: Executor,
    call: Callable[..., bytes],
    tasks: Iterable[tuple[Key, tuple[Any, ...]]],
) -> Generator[tuple[Key, bytes | Exception], None, None]:
    """Makes a call for each task, and gives what it returned or raised, in the order in which they
    end. The last argument of a call is a ``Stop`` or ``None``. Whoever closes this ends the calls."""
    # Threads do not see Ctrl-C: they are told.
    stop = Stop() if isinstance(executor, ThreadPoolExecutor) else None
    waiting: dict[Future[bytes], Key] = {}
    try:
        for key, arguments in tasks:
            try:
                waiting[executor.submit(call, *arguments, stop)] = key
            except RuntimeError as broken:
                # A pool whose worker died takes nothing more.
                yield key, broken
        for future in as_completed(waiting):
            key = waiting.pop(future)
            try:
                result: bytes | Exception = future.result()
            except Exception as error:
                result = error
            yield key, result
    except BaseException:
        if stop:
            stop.set()
        for future in waiting:
            future.cancel()
        raise
