"""The torch front end's derivatives: both modes, both orders, every argument, every direction."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import lapsum

X = torch.tensor([[0.3, -1.2, 0.9, 2.1], [1.0, 0.1, -0.4, 0.5]], dtype=torch.float64)
ALPHA = torch.tensor([0.6, -1.3], dtype=torch.float64)
K = torch.tensor([1.3, 2.6], dtype=torch.float64)
LEVELS = torch.tensor([[0.6, 2.2, 3.1], [1.2, 2.7, 3.3]], dtype=torch.float64)
POINTS = torch.tensor([[-0.5, 0.4, 1.7], [0.0, 0.3, 2.0]], dtype=torch.float64)
VALUES = torch.tensor(np.random.default_rng(0).normal(size=(2, 4, 3)))


def case(name, *tensors, **flags):
    label = name + "".join(f"-{k}={v}" for k, v in flags.items())
    label += "-levels" if tensors[0].ndim > 2 else ""

    def function(*args):
        return getattr(lapsum, name)(*args, **flags)

    return pytest.param(function, tensors, id=label)


CASES = [
    *(
        case(name, X, ALPHA, descending=d)
        for name in ("soft_rank", "soft_sort", "soft_permutation")
        for d in (False, True)
    ),
    *(
        case(name, X, K, ALPHA, largest=d)
        for name in ("soft_topk", "log_soft_topk")
        for d in (False, True)
    ),
    *(
        case("soft_permute", X, VALUES, ALPHA, descending=d, transpose=t)
        for d in (False, True)
        for t in (False, True)
    ),
    case("soft_permute", X, VALUES[..., 0], ALPHA),
    *(case("soft_kth_value", X, K, ALPHA, largest=d) for d in (False, True)),
    case("soft_quantile", X, K / 4, ALPHA),
    case("soft_topk", X.unsqueeze(1), LEVELS, ALPHA.unsqueeze(1)),
    case("lap_sum", X, POINTS, ALPHA),
    case("lap_sum_inverse", X, LEVELS, ALPHA),
]
every = pytest.mark.parametrize(("function", "tensors"), CASES)


def leaves(tensors):
    return tuple(t.clone().requires_grad_() for t in tensors)


@every
def test_gradcheck_in_both_modes(function, tensors):
    assert gradcheck(function, leaves(tensors), check_forward_ad=True)


@every
def test_gradgradcheck_in_both_modes(function, tensors):
    assert gradgradcheck(function, leaves(tensors), check_fwd_over_rev=True)


@every
def test_function_transforms_agree_with_autograd(function, tensors):
    args = leaves(tensors)
    y = function(*args)
    g = torch.cos(torch.arange(y.numel(), dtype=y.dtype)).view_as(y)
    want = torch.autograd.grad(y, args, g)
    _, pull = torch.func.vjp(function, *tensors)
    for got, expected in zip(pull(g), want, strict=True):
        torch.testing.assert_close(got, expected)
    every_argument = tuple(range(len(tensors)))
    reverse = torch.func.jacrev(function, every_argument)(*tensors)
    forward = torch.func.jacfwd(function, every_argument)(*tensors)
    for r, f in zip(reverse, forward, strict=True):
        torch.testing.assert_close(r, f)
    _, dy = torch.func.jvp(function, tensors, tuple(torch.ones_like(t) for t in tensors))
    total = sum(j.flatten(y.ndim).sum(-1) for j in forward)
    torch.testing.assert_close(dy, total)


@every
def test_hessians_agree_with_double_backward(function, tensors):
    def scalar(x, *rest):
        return function(x, *rest).sin().sum()

    hessian = torch.func.hessian(scalar)(*tensors)
    args = leaves(tensors)
    (gx,) = torch.autograd.grad(scalar(*args), args[:1], create_graph=True)
    rows = [torch.autograd.grad(v, args[0], retain_graph=True)[0] for v in gx.flatten()]
    torch.testing.assert_close(hessian.reshape(len(rows), -1), torch.stack(rows).flatten(1))


@every
def test_vmap_is_a_batch(function, tensors):
    y = function(*tensors)
    torch.testing.assert_close(torch.vmap(function)(*tensors), y)
    stacked = tuple(torch.stack([t, t.flip(0)], 1) for t in tensors)
    nested = torch.vmap(torch.vmap(function))(*stacked)
    want = torch.stack([y, function(*(t.flip(0) for t in tensors))], 1)
    torch.testing.assert_close(nested, want)


@every
def test_per_sample_gradients(function, tensors):
    def scalar(*args):
        return function(*args).sin().sum()

    got = torch.vmap(torch.func.grad(scalar))(*tensors)
    args = leaves(tensors)
    (want,) = torch.autograd.grad(scalar(*args), args[:1])
    torch.testing.assert_close(got, want)


@every
def test_a_batch_of_incoming_gradients(function, tensors):
    args = leaves(tensors)
    y = function(*args)
    rows = torch.stack([torch.ones_like(y), torch.arange(y.numel()).view_as(y) - 1.5])
    got = torch.vmap(lambda g: torch.autograd.grad(y, args, g, retain_graph=True))(rows)
    for i, g in enumerate(rows):
        want = torch.autograd.grad(y, args, g, retain_graph=True)
        for all_rows, one in zip(got, want, strict=True):
            torch.testing.assert_close(all_rows[i], one)


@pytest.mark.parametrize("alpha", [0.6, torch.tensor(0.6)])
@pytest.mark.parametrize("name", ["soft_rank", "soft_sort"])
def test_a_batch_of_incoming_gradients_of_plain_rows(name, alpha):
    x = X.clone().requires_grad_()
    y = getattr(lapsum, name)(x, alpha)
    rows = torch.eye(8, dtype=torch.float64).view(8, 2, 4)
    (got,) = torch.vmap(lambda g: torch.autograd.grad(y, x, g, retain_graph=True))(rows)
    want = torch.func.jacrev(lambda t: getattr(lapsum, name)(t, alpha))(X)
    torch.testing.assert_close(got, want.flatten(0, 1))


@pytest.mark.parametrize("argument", [0, 1, 2])
def test_vmap_over_one_argument(argument):
    args = [X[0], torch.tensor(1.3, dtype=torch.float64), torch.tensor(0.6, dtype=torch.float64)]
    many = [torch.stack([a, a * 1.5]) if i == argument else a for i, a in enumerate(args)]
    dims = tuple(0 if i == argument else None for i in range(3))
    got = torch.vmap(lapsum.soft_topk, in_dims=dims)(*many)
    for j in range(2):
        one = [m[j] if i == argument else m for i, m in enumerate(many)]
        torch.testing.assert_close(got[j], lapsum.soft_topk(*one))


def test_the_complement_has_gradients():
    def both(x, k, alpha):
        return lapsum.log_soft_topk(x, k, alpha, return_complement=True)

    assert gradcheck(both, leaves((X, K, ALPHA)), check_forward_ad=True)
    assert gradgradcheck(both, leaves((X, K, ALPHA)))


def test_gradients_only_for_those_that_need_them():
    x, k = X.clone().requires_grad_(), K.clone()
    lapsum.soft_topk(x, k, 0.5).sum().backward()
    assert x.grad is not None
    assert k.grad is None
    alpha = ALPHA.clone().requires_grad_()
    y = lapsum.soft_sort(X, alpha)
    assert y.requires_grad
    (galpha,) = torch.autograd.grad(y.sum(), alpha)
    assert galpha.shape == alpha.shape


def test_retain_graph_hooks_and_accumulation():
    x = X.clone().requires_grad_()
    seen = []
    y = lapsum.soft_rank(x, 0.5)
    y.register_hook(seen.append)
    loss = (y**2).sum()
    loss.backward(retain_graph=True)
    once = x.grad.clone()
    loss.backward()
    torch.testing.assert_close(x.grad, 2 * once, rtol=0, atol=0)
    assert len(seen) == 2


def test_checkpointing():
    from torch.utils.checkpoint import checkpoint

    x = X.clone().requires_grad_()
    want = torch.autograd.grad(lapsum.soft_topk(x, 2, 0.5).sin().sum(), x)[0]
    y = checkpoint(lambda t: lapsum.soft_topk(t, 2, 0.5).sin(), x, use_reentrant=False)
    torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], want, rtol=0, atol=0)


def test_alpha_changed_in_place_is_noticed():
    x, alpha = X.clone().requires_grad_(), torch.tensor(0.5, dtype=torch.float64)
    y = lapsum.soft_topk(x, 2, alpha)
    want = torch.autograd.grad(y.sin().sum(), x, retain_graph=True)[0]
    alpha.mul_(2)  # the graph holds a copy of its own or refuses; it is never silently wrong
    try:
        got = torch.autograd.grad(y.sin().sum(), x)[0]
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
    else:
        torch.testing.assert_close(got, want, rtol=0, atol=0)


def test_third_derivatives():
    x = torch.tensor([0.3, -1.2, 0.9], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(lapsum.soft_topk(x, 1.4, 0.7)[0], x, create_graph=True)
    assert gradgradcheck(
        lambda t: torch.autograd.grad(lapsum.soft_topk(t, 1.4, 0.7)[0], t, create_graph=True)[0], x
    )
    assert g.requires_grad
