"""What is measured: operations with their shapes, levels and alphas.

Inputs have standard deviation 1, so that alpha is in units of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

FORWARD, BACKWARD, STEP = "forward", "forward+backward", "step"
RANKING = ("soft_sort", "soft_rank", "soft_quantile", "soft_permute")


@dataclass(frozen=True)
class Case:
    """One problem. k is a level, several levels for every row, or (`per_row`) one near k for each.

    For soft_quantile k is q n. `relu` cuts the input at 0, as the activations of an autoencoder.
    """

    operation: str
    rows: int
    n: int
    k: float | tuple[float, ...] = 0.0
    alpha: float = 0.1
    dtype: str = "float32"
    per_row: bool = False
    relu: bool = False
    group: str = ""

    @property
    def shape(self) -> str:
        return f"{self.rows}x{self.n}"

    @property
    def k_text(self) -> str:
        if isinstance(self.k, tuple):
            return " ".join(f"{k:g}" for k in self.k)
        return f"{self.k:.10g}{' per row' if self.per_row else ''}" if self.k else ""

    @property
    def whole_k(self) -> int:
        """The k of those that need an integer, and one for all rows."""
        return max(1, int(max(self.k) if isinstance(self.k, tuple) else self.k))

    def levels(self) -> float | Tensor:
        if isinstance(self.k, tuple):
            return torch.tensor(self.k, dtype=torch.float64)
        if self.per_row:
            return self.k + torch.linspace(0, 0.9, self.rows)
        return self.k

    def levels_of_row(self, row: int) -> tuple[float, ...]:
        if isinstance(self.k, tuple):
            return self.k
        levels = self.levels()
        return (float(levels[row]) if isinstance(levels, Tensor) else levels,)


@dataclass
class Inputs:
    """The row data of a case; `values` is what soft_permute permutes, empty for others."""

    x: Tensor
    values: Tensor


def inputs(case: Case, *, gradients: bool) -> Inputs:
    generator = torch.Generator().manual_seed(case.rows + case.n)
    dtype = getattr(torch, case.dtype)

    def draw() -> Tensor:
        return torch.randn(case.rows, case.n, generator=generator, dtype=dtype)

    x = draw()
    if case.relu:
        x.clamp_(min=0)
    values = draw() if case.operation == "soft_permute" else torch.empty(0)
    return Inputs(x.requires_grad_(gradients), values.requires_grad_(gradients))


def level(text: str, n: int) -> float:
    """A level such as "5" or "n/2 + 0.3"; none is 0."""
    return float(eval(text or "0", {"__builtins__": {}}, {"n": n}))


def sweep(lengths: list[int]) -> Iterator[Case]:
    """One row of growing length: the figures of the paper and the exponents."""
    for n in lengths:
        yield Case("soft_topk", 1, n, n // 2, group="sweep k = n/2")
        yield Case("soft_topk", 1, n, 5, group="sweep k = 5")
        yield Case("log_soft_topk", 1, n, n // 2, group="sweep k = n/2")
        for operation in RANKING:
            k = 0.9 * n if operation == "soft_quantile" else 0
            yield Case(operation, 1, n, k, group="sweep")
        if n <= 1000:
            yield Case("soft_permutation", 1, n, group="sweep")


def users() -> Iterator[Case]:
    """The shapes that people call these functions with."""
    autoencoder = Case("soft_topk", 4096, 16384, 64, per_row=True, relu=True, group="autoencoder")
    for alpha in (1.0, 1e-2, 1e-4):
        yield replace(autoencoder, alpha=alpha)
    yield replace(autoencoder, rows=2048, n=65536, dtype="bfloat16")
    for n in (10, 100, 1000):
        yield Case("soft_topk", 1024, n, n // 2, group="cascade")
    for n in (1000, 10450):
        classes = Case("soft_topk", 500, n, (1.0, 2.0, 3.0, 4.0, 5.0), group="classes")
        yield classes
        yield replace(classes, operation="log_soft_topk")
    for n in (1000, 5000):
        yield Case("soft_rank", 1, n, group="Spearman")
    for operation in ("soft_quantile", "soft_rank", "soft_sort"):
        k = 900 if operation == "soft_quantile" else 0
        yield Case(operation, 500, 1000, k, dtype="float64", group="conformal")
    yield Case("soft_topk", 2, 32768, 1024, group="routing")
    yield Case("soft_topk", 1, 1048576, 1024, group="routing")
    yield Case("soft_topk", 512, 256, 8, group="experts")
    yield Case("soft_topk", 100, 100, 10, group="neighbours")
    for n in (3, 15):
        for operation in ("soft_permutation", "soft_permute", "soft_sort"):
            yield Case(operation, 20, n, group="permutations")


def tiny() -> Iterator[Case]:
    """Every operation and every kind of case, in seconds: for the test of the harness."""
    yield from sweep([20])
    yield Case("soft_topk", 1, 40, 20, group="sweep k = n/2")
    yield Case("soft_topk", 4, 50, 5, per_row=True, relu=True, dtype="bfloat16", group="tiny")
    yield Case("log_soft_topk", 3, 20, (1.0, 2.0), group="tiny")
    yield Case("soft_quantile", 3, 40, 36, dtype="float64", group="tiny")
