"""A progress bar on stderr, a line of its own for every tenth where that is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
WIDTH = 30


def progress(items: Sequence[Item], title: str) -> Iterator[Item]:
    """The items, one after the other; what is being measured is their string."""
    terminal, start, shown = sys.stderr.isatty(), time.monotonic(), -1
    for done, item in enumerate([*items, None]):
        tenth = 10 * done // max(1, len(items))
        bar = "#" * (WIDTH * done // max(1, len(items)))
        line = f"{title} [{bar:{WIDTH}}] {done}/{len(items)}, {time.monotonic() - start:.0f} s"
        if terminal:
            print(f"\r\033[K{line}", end="" if item is not None else "\n", file=sys.stderr)
            sys.stderr.flush()
        elif tenth > shown:
            print(line, file=sys.stderr, flush=True)
        shown = max(shown, tenth)
        if item is not None:
            yield item
