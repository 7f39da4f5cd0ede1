"""What a call costs beside its work: a row of 100 against torch's own functions, as ratios.

Ours and theirs alternate in one process; each figure is a ratio of medians. Run on an idle machine:
python benchmarks/overhead.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

import lapsum

ROUNDS, CALLS = 41, 200


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS


def compare(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Microseconds of ours, and the ratio to theirs."""
    times = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    mine, other = (statistics.median(t) for t in zip(*times, strict=True))
    return 1e6 * mine, mine / other


def main() -> None:
    torch.set_num_threads(2)
    x = torch.randn(1, 100)
    leaf = x.clone().requires_grad_()
    operations = {
        "soft_topk": lambda t: lapsum.soft_topk(t, 5, 0.5),
        "soft_rank": lambda t: lapsum.soft_rank(t, 0.5),
        "soft_sort": lambda t: lapsum.soft_sort(t, 0.5),
    }
    print("1 x 100, float32    forward / torch.sort    forward + backward / torch.softmax")
    for name, function in operations.items():

        def step(function: Callable[[torch.Tensor], torch.Tensor] = function) -> None:
            function(leaf).sum().backward()

        forward = compare(lambda f=function: f(x), lambda: torch.sort(x))
        both = compare(step, lambda: torch.softmax(leaf, -1).sum().backward())
        print(f"{name:16} {forward[0]:8.1f} us {forward[1]:8.2f} {both[0]:16.1f} us {both[1]:8.2f}")


if __name__ == "__main__":
    main()
