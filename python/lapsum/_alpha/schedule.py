"""Annealing: alpha shrinks by the same factor in every step of training."""

from __future__ import annotations

import math
import sys
from typing import Any


class AlphaSchedule:
    """Alpha from `start` to `end` in `steps` geometric steps, for itself or for torch modules.

    Without modules it is a number to read: `schedule.alpha`. Given modules of `lapsum.nn`, or
    models that contain some, it sets their alpha, at once and in every step; those with a
    trainable alpha are left alone.

    Args:
        start: alpha before the first step, positive.
        end: alpha after `steps` steps and ever after, positive.
        steps: how many steps lead from start to end, at least 1.
        modules: torch modules whose alphas follow.

    Returns:
        a schedule: `step()` goes on and returns the new alpha, `at(step)` tells it beforehand,
        `state_dict()` and `load_state_dict(state)` keep its place in a checkpoint.

    >>> import lapsum
    >>> schedule = lapsum.AlphaSchedule(1.0, 0.01, steps=4)
    >>> schedule.alpha
    1.0
    >>> [round(schedule.step(), 4) for _ in range(5)]
    [0.3162, 0.1, 0.0316, 0.01, 0.01]
    """

    def __init__(self, start: float, end: float, steps: int, *modules: Any) -> None:
        for name, value in (("start", start), ("end", end)):
            if not 0 < value < math.inf:
                raise ValueError(
                    f"AlphaSchedule: {name} must be positive and finite, got {name}={value:g}"
                )
        if steps < 1:
            raise ValueError(f"AlphaSchedule: steps must be at least 1, got steps={steps}")
        self.start = float(start)
        self.end = float(end)
        self.steps = int(steps)
        self.done = 0
        self._followers = _fixed_alphas(modules)
        self._tell()

    @property
    def alpha(self) -> float:
        """The alpha of now."""
        return self.at(self.done)

    def at(self, step: int) -> float:
        """The alpha after so many steps."""
        if step <= 0:
            return self.start
        if step >= self.steps:
            return self.end
        return float(self.start * (self.end / self.start) ** (step / self.steps))

    def step(self) -> float:
        """Goes one step on and returns the new alpha."""
        self.done += 1
        self._tell()
        return self.alpha

    def state_dict(self) -> dict[str, int]:
        return {"done": self.done}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.done = int(state["done"])
        self._tell()

    def _tell(self) -> None:
        for module in self._followers:
            module.alpha = self.alpha

    def __repr__(self) -> str:
        place = f"start={self.start:g}, end={self.end:g}, steps={self.steps}, done={self.done}"
        return f"AlphaSchedule({place}, alpha={self.alpha:.4g})"


def _fixed_alphas(modules: tuple[Any, ...]) -> list[Any]:
    """The modules of lapsum.nn in these whose alpha is not trained."""
    if not modules:
        return []
    nn = sys.modules.get("lapsum.nn")
    inside = [m for module in modules for m in module.modules()] if nn is not None else []
    found = [m for m in inside if nn and isinstance(m, nn.Softness) and not m.trainable]
    if not found:
        raise ValueError(
            "AlphaSchedule: modules must contain some of lapsum.nn with an alpha that is not "
            "trainable, found none"
        )
    return found
