"""Who is measured: our operations, torch's hard counterparts and prices, and the peers from PyPI.

What a subject prepares (a sorting network, a dense matrix) is not timed; its call is. The softness
of the peers is of another kind; it is set to act over distances of about alpha.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from cases import Case, Inputs
from torch import Tensor

Call = Callable[[], Tensor]
Prepare = Callable[[Case, Inputs], Call]


@dataclass(frozen=True)
class Subject:
    """One library's answer to one operation. `exact` ones are held to the definition."""

    library: str
    operation: str
    prepare: Prepare
    exact: bool = False
    differentiable: bool = True


OURS = "lapsum"
PEERS = ("torchsort", "difftopk", "diffsort")
SUBJECTS: list[Subject] = []


def subject(library: str, *operations: str, **flags: bool) -> Callable[[Prepare], Prepare]:
    def register(prepare: Prepare) -> Prepare:
        SUBJECTS.extend(Subject(library, operation, prepare, **flags) for operation in operations)
        return prepare

    return register


def subjects_of(operation: str) -> list[Subject]:
    """Ours first."""
    return [s for s in SUBJECTS if s.operation == operation]


def find(library: str, operation: str) -> Subject:
    """The library's subject for this operation, else for another: a price is a price for all."""
    offers = [s for s in SUBJECTS if s.library == library]
    return next((s for s in offers if s.operation == operation), offers[0])


# --- ours; imported late, after the fork (see measure.py) ----------------------------------------


def _ours(operation: str) -> Any:
    import lapsum

    return getattr(lapsum, operation)


@subject(OURS, "soft_topk", "log_soft_topk", exact=True)
def _mask(case: Case, given: Inputs) -> Call:
    function, k = _ours(case.operation), case.levels()
    if isinstance(case.k, tuple):
        return lambda: function(given.x.unsqueeze(-2), k, case.alpha)
    return lambda: function(given.x, k, case.alpha)


@subject(OURS, "soft_sort", "soft_rank", "soft_permutation", exact=True)
def _plain(case: Case, given: Inputs) -> Call:
    function = _ours(case.operation)
    return lambda: function(given.x, case.alpha)


@subject(OURS, "soft_quantile", exact=True)
def _quantile(case: Case, given: Inputs) -> Call:
    function, q = _ours(case.operation), case.levels_of_row(0)[0] / case.n
    return lambda: function(given.x, q, case.alpha)


@subject(OURS, "soft_permute", exact=True)
def _permute(case: Case, given: Inputs) -> Call:
    function = _ours(case.operation)
    return lambda: function(given.x, given.values, case.alpha)


# --- torch: hard counterparts, and the softmax as a price ----------------------------------------


@subject("torch.softmax", "soft_topk")
def _softmax(case: Case, given: Inputs) -> Call:
    return lambda: torch.softmax(given.x, -1)


@subject("torch.log_softmax", "log_soft_topk")
def _log_softmax(case: Case, given: Inputs) -> Call:
    return lambda: torch.log_softmax(given.x, -1)


@subject("torch.topk", "soft_topk", "log_soft_topk")
def _topk(case: Case, given: Inputs) -> Call:
    return lambda: torch.topk(given.x, case.whole_k).values


@subject("torch.sort", "soft_sort", "soft_rank", "soft_quantile", "soft_permute")
def _sort(case: Case, given: Inputs) -> Call:
    return lambda: torch.sort(given.x).values


@subject("torch.argsort twice", "soft_rank", differentiable=False)
def _argsort_twice(case: Case, given: Inputs) -> Call:
    return lambda: torch.argsort(torch.argsort(given.x))


@subject("torch.quantile", "soft_quantile")
def _torch_quantile(case: Case, given: Inputs) -> Call:
    q = case.levels_of_row(0)[0] / case.n
    return lambda: torch.quantile(given.x, q, -1)


@subject("dense matvec", "soft_permute")
def _dense(case: Case, given: Inputs) -> Call:
    """P v with a matrix that is there already: what is left to pay by those who keep it."""
    if case.n > 20000:
        raise MemoryError(f"a matrix of {case.n} x {case.n}")
    matrix = _ours("soft_permutation")(given.x.detach(), case.alpha)
    return lambda: torch.matmul(matrix, given.values.unsqueeze(-1)).squeeze(-1)


@subject("torch one-hot argsort", "soft_permutation", differentiable=False)
def _hard_permutation(case: Case, given: Inputs) -> Call:
    def call() -> Tensor:
        order = torch.argsort(given.x).unsqueeze(-1)
        return torch.zeros(case.rows, case.n, case.n).scatter_(-1, order, 1.0)

    return call


# --- peers ---------------------------------------------------------------------------------------


@subject("torchsort", "soft_sort", "soft_rank")
def _torchsort(case: Case, given: Inputs) -> Call:
    import torchsort

    function = getattr(torchsort, case.operation)
    return lambda: function(given.x, regularization_strength=case.alpha)


@subject("diffsort", "soft_sort", "soft_permutation")
def _diffsort(case: Case, given: Inputs) -> Call:
    import diffsort

    network = diffsort.DiffSortNet("bitonic", case.n, steepness=1 / case.alpha)
    part = 0 if case.operation == "soft_sort" else 1
    return lambda: network(given.x)[part]


@subject("difftopk", "soft_topk")
def _difftopk(case: Case, given: Inputs) -> Call:
    import difftopk

    network = difftopk.DiffTopkNet("bitonic", case.n, case.whole_k, steepness=1 / case.alpha)
    return lambda: network(given.x)[1].sum(-1)


def _relaxation(name: str) -> Prepare:
    """A dense relaxation of the permutation; its first k rows add up to a mask."""

    def prepare(case: Case, given: Inputs) -> Call:
        import difftopk

        matrix = getattr(difftopk, name)(tau=case.alpha)
        if case.operation == "soft_permutation":
            return lambda: matrix(given.x)
        return lambda: matrix(given.x)[:, : case.whole_k].sum(1)

    return prepare


subject("difftopk SoftSort", "soft_topk", "soft_permutation")(_relaxation("SoftSort"))
subject("difftopk NeuralSort", "soft_topk", "soft_permutation")(_relaxation("NeuralSort"))
