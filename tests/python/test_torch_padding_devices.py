"""Masks, lengths and weights where plain torch serves: the same numbers as by the core."""

from __future__ import annotations

import numpy as np
import pytest
from tolerances import assert_within

torch = pytest.importorskip("torch")

import lapsum  # noqa: E402
from lapsum._torch import portable  # noqa: E402
from lapsum._torch.backends import serving  # noqa: E402

CALLS = {
    "soft_rank": (0.7,),
    "soft_sort": (0.7,),
    "soft_topk": (2.3, 0.7),
    "log_soft_topk": (2.3, 0.7),
    "soft_kth_value": (2.3, 0.7),
    "soft_quantile": (0.3, 0.7),
    "soft_permutation": (0.7,),
    "soft_permute": (0.7,),
    "lap_sum": (0.7,),
}
WEIGHTED = ("soft_rank", "soft_topk", "log_soft_topk", "soft_kth_value", "soft_quantile")
CASES = [(name, False) for name in CALLS] + [(name, True) for name in WEIGHTED]


def outcomes(name, weighted, filler):
    """The value, the gradients and the derivative along a direction, as NumPy arrays."""
    draw = np.random.default_rng(5)
    mask = torch.tensor([[True, False, True, True, True], [True, True, True, False, False]])
    x = torch.tensor(draw.normal(size=(2, 5)))
    second = {"soft_permute": torch.tensor(draw.normal(size=(2, 5, 2))), "lap_sum": x[:, :2] + 0.1}
    arrays = [x, *([second[name]] if name in second else [])]
    if weighted:
        arrays.append(torch.tensor(draw.uniform(0.5, 2, size=(2, 5))))
    numbers = [torch.tensor(a, dtype=torch.float64) for a in CALLS[name]]

    def call(*args):
        weights = {"weights": args[len(arrays) - 1]} if weighted else {}
        first = args[: len(arrays) - weighted]
        held = torch.where(mask, first[0], filler)
        out = getattr(lapsum, name)(held, *first[1:], *args[len(arrays) :], mask=mask, **weights)
        return torch.where(torch.isfinite(out), out, 0.0)

    args = (*arrays, *numbers)
    given = [a.clone().requires_grad_() for a in args]
    out = call(*given)
    grads = torch.autograd.grad(out, given, torch.tensor(draw.normal(size=out.shape)))
    _, along = torch.func.jvp(call, args, tuple(torch.ones_like(a) for a in args))
    return [out.detach().numpy(), along.numpy(), *(t.numpy() for t in grads)]


@pytest.mark.parametrize(("name", "weighted"), CASES)
def test_plain_torch_agrees_with_the_core(name, weighted):
    want = outcomes(name, weighted, 0.0)
    with serving("cpu", portable):
        got = outcomes(name, weighted, float("nan"))
    for a, b in zip(got, want, strict=True):
        assert_within("composed", "float64", "agreement", a, b)
