"""Mistakes seen in earlier implementations of the method, each as a test of this one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import lapsum


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_soft_sort_has_a_gradient_in_descending_order():
    x = leaf(0.3, -1.0, 2.0)
    lapsum.soft_sort(x, 0.5, descending=True)[0].backward()
    assert x.grad.argmax() == 2
    assert x.grad[2] > 0.5


def test_the_permutation_uses_the_incoming_gradient():
    x = leaf(0.3, -1.0, 2.0)
    y = lapsum.soft_permutation(x, 0.5)
    one = torch.autograd.grad(y[0, 0], x, retain_graph=True)[0]
    twice = torch.autograd.grad(2 * y[0, 0], x, retain_graph=True)[0]
    torch.testing.assert_close(twice, 2 * one)
    assert not torch.equal(one, torch.autograd.grad(y[1, 1], x)[0])


def test_an_integer_k_over_a_wide_gap_is_no_mask_of_zeros():
    p = lapsum.soft_topk(torch.tensor([0.0, 10.0, 20.0, 30.0]), 2, 0.05)
    assert p[2:].tolist() == [1, 1]
    assert (p[:2] < 1e-40).all()


def test_the_backward_of_rank_is_not_quadratic_in_memory():
    x = torch.randn(300_000, requires_grad=True)  # a matrix of pairs would take 360 GB
    lapsum.soft_rank(x, 0.1).square().sum().backward()
    assert x.grad.isfinite().all()


def test_soft_sort_has_a_gradient_in_alpha():
    x, alpha = leaf(0.3, -1.0, 2.0), leaf(0.5)
    assert gradcheck(lambda t, a: lapsum.soft_sort(t, a[0]), (x, alpha))


def test_alpha_is_never_changed():
    alpha = torch.tensor(0.5)
    for function in (lapsum.soft_rank, lapsum.soft_sort):
        function(torch.randn(5), alpha, descending=True)
    lapsum.soft_topk(torch.randn(5), 2, alpha)
    assert alpha == 0.5


def test_k_of_0_and_n_are_exact():
    x = torch.randn(7)
    assert (lapsum.soft_topk(x, 0) == 0).all()
    assert (lapsum.soft_topk(x, 7) == 1).all()


@pytest.mark.parametrize("name", ["soft_rank", "soft_sort", "soft_permutation"])
def test_nan_does_not_loop_for_ever(name):
    assert getattr(lapsum, name)(torch.tensor([1.0, torch.nan, 2.0])).isnan().all()
    assert lapsum.soft_topk(torch.tensor([1.0, torch.nan, 2.0]), 1).isnan().all()


def test_ties_at_a_small_alpha_raise_nothing():
    p = lapsum.soft_topk(torch.ones(6, dtype=torch.float64), 2, 1e-12)
    torch.testing.assert_close(p, torch.full((6,), 1 / 3, dtype=torch.float64))


def test_double_results_carry_no_float_error_of_alpha():
    x = np.array([0.0, 1.0, 3.0])
    exact = lapsum.soft_topk(x, 1.3, 0.1)
    tensor = lapsum.soft_topk(torch.tensor(x), 1.3, torch.tensor(0.1, dtype=torch.float64))
    np.testing.assert_array_equal(tensor.numpy(), exact)
    rounded = lapsum.soft_topk(x, 1.3, float(np.float32(0.1)))
    assert (rounded != exact).any()


def test_k_of_two_axes_reads_nothing_out_of_bounds():
    x = torch.randn(3, 1, 8)
    k = torch.rand(3, 5) * 8
    p = lapsum.soft_topk(x, k, 0.5)
    assert p.shape == (3, 5, 8)
    torch.testing.assert_close(p.sum(-1), k)


def test_a_tensor_on_another_device_stays_there():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert lapsum.soft_rank(torch.empty(3, device="cuda")).is_cuda
