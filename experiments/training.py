"""What all experiments share: their options, the loop over steps, evaluation in batches, peers.

One thread, so that two experiments fit on two cores; the seed sets the network and the batches.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from progress import progress

TINY_STEPS = 3


def options(description: str, *, steps: int, lr: float) -> argparse.ArgumentParser:
    """The command line that all have; --tiny shrinks everything to seconds, on generated images."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=steps, help="of training, in every run")
    parser.add_argument("--lr", type=float, default=lr, help="the highest learning rate")
    parser.add_argument("--data", type=Path, help="folder of the full data sets")
    parser.add_argument("--out", type=Path, default=Path("build/experiments"))
    parser.add_argument("--methods", nargs="+", help="only these, by their names in the table")
    parser.add_argument("--tiny", action="store_true", help="a trial of the loop, in seconds")
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    chosen = parser.parse_args()
    if chosen.tiny:
        chosen.seeds, chosen.steps = chosen.seeds[:2], TINY_STEPS
    torch.set_num_threads(1)
    return chosen


class Trainer:
    """Trains one model after the other under one progress bar over all their steps."""

    def __init__(self, title: str, runs: int, steps: int, lr: float) -> None:
        self.steps, self.lr = steps, lr
        self._bar: Iterator[int] = progress(range(1, runs * steps + 1), title)

    def fit(self, modules: Sequence[nn.Module], loss: Callable[[int], Tensor]) -> float:
        """Adam on loss(step), the learning rate rising and falling; returns seconds of CPU time."""
        start = time.process_time()
        parameters = [p for module in modules for p in module.parameters()]
        adam = torch.optim.Adam(parameters, self.lr)
        rate = torch.optim.lr_scheduler.OneCycleLR(adam, self.lr, total_steps=self.steps)
        for module in modules:
            module.train()
        for step in range(self.steps):
            next(self._bar)
            adam.zero_grad()
            loss(step).backward()
            adam.step()
            rate.step()
        return time.process_time() - start

    def finish(self) -> None:
        """Completes the bar."""
        for _ in self._bar:
            pass


@torch.no_grad()
def evaluate(model: nn.Module, inputs: Tensor, batch: int = 500) -> Tensor:
    model.eval()
    return torch.cat([model(part) for part in inputs.split(batch)])


def batch_of(part: tuple[Tensor, Tensor], count: int) -> tuple[Tensor, Tensor]:
    at = torch.randint(len(part[1]), (count,))
    return part[0][at], part[1][at]


def available(
    methods: Sequence[str], wanted: Sequence[str] | None, needs: dict[str, str]
) -> tuple[list[str], list[str]]:
    """The methods that can run, and a line for each that cannot, with the reason."""
    found, lost = [], []
    for method in wanted or methods:
        if method not in methods:
            raise SystemExit(f"no method {method!r} here, but: {', '.join(methods)}")
        try:
            importlib.import_module(needs.get(method, "torch"))
            found.append(method)
        except Exception as error:  # a peer may fail to load in any way
            lost.append(f"{method} was not run: {type(error).__name__}: {error}")
    return found, lost
