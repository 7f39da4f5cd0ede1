"""soft_kth_value: the threshold of soft_topk, its limits and its errors."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tolerances import assert_within

import lapsum
from lapsum import reference


def test_by_hand():
    x = np.array([30.0, 0.0, 20.0, 10.0])
    assert lapsum.soft_kth_value(x, 1, 1e-3) == 25
    assert lapsum.soft_kth_value(x, 1, 1e-3, largest=False) == 5
    assert lapsum.soft_kth_value(x, 1, -1e-3) == 5
    assert lapsum.soft_kth_value(x, np.array([0.5, 1.5, 2.5, 3.5]), 1e-3).tolist() == [
        30,
        20,
        10,
        0,
    ]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("alpha", [0.3, -0.3])
def test_it_is_the_threshold_of_the_mask(alpha, largest):
    x = np.random.default_rng(0).normal(size=(4, 30))
    k = np.array([0.2, 7.0, 15.5, 29.8])
    b = lapsum.soft_kth_value(x, k, alpha, largest=largest)
    sign = 1 if largest else -1
    p = reference.cdf(sign * (x - b[:, None]) / alpha)
    want = lapsum.soft_topk(x, k, alpha, largest=largest)
    assert_within("soft_topk", "float64", "value", p, want, n=30, k=k.max(), alpha=alpha)
    same = lapsum.lap_sum_inverse(x, k[:, None], -sign * alpha)[:, 0]
    np.testing.assert_array_equal(b, same)


def test_limits_are_infinite_with_zero_gradient():
    x, k = np.array([1.0, 2.0, 4.0]), np.array([-1.0, 0.0, 3.0, 4.0])
    assert lapsum.soft_kth_value(x, k).tolist() == [np.inf, np.inf, -np.inf, -np.inf]
    assert lapsum.soft_kth_value(x, k, largest=False).tolist() == [
        -np.inf,
        -np.inf,
        np.inf,
        np.inf,
    ]
    gx, gk, galpha = lapsum.soft_kth_value_vjp(x, k, 1.0, np.ones(4))
    assert not gx.any()
    assert not gk.any()
    assert galpha == 0


def test_elements_at_the_far_infinity_are_never_chosen():
    x = np.array([1.0, -np.inf, 2.0, 4.0])
    for k in (0.5, 1.7, 2.9):
        assert lapsum.soft_kth_value(x, k, 0.5) == lapsum.soft_kth_value(x[[0, 2, 3]], k, 0.5)
    assert lapsum.soft_kth_value(x, 3, 0.5) == -np.inf
    gx, *_ = lapsum.soft_kth_value_vjp(x, 2.0, 0.5, 1.0)
    assert gx[1] == 0
    assert_within("soft_kth_value", "float64", "grad_x", gx.sum(), 1, g=1.0)
    assert lapsum.soft_kth_value(-x, 3, 0.5, largest=False) == np.inf


@pytest.mark.parametrize("array", [np.zeros, torch.zeros])
def test_errors_carry_its_name(array):
    with pytest.raises(
        ValueError, match=r"^soft_kth_value: k must be in \[0, n\], got k=7 with n=5$"
    ):
        lapsum.soft_kth_value(array(5), 7)
    with pytest.raises(
        ValueError, match=r"^soft_kth_value: alpha must be finite and not 0, got alpha=0$"
    ):
        lapsum.soft_kth_value(array(5), 2, 0.0)
    with pytest.raises(ValueError, match=r"^soft_kth_value: k must be in \[0, n\], got k=nan"):
        lapsum.soft_kth_value(array(5), float("nan"))


def test_the_batch_shape_is_the_result_shape():
    x = np.random.default_rng(0).normal(size=(3, 8))
    assert lapsum.soft_kth_value(x, 2).shape == (3,)
    assert lapsum.soft_kth_value(x, 2, dim=0).shape == (8,)
    assert lapsum.soft_kth_value(x[:, None], np.array([1.0, 2.0])).shape == (3, 2)
    t = torch.tensor(x)
    got = lapsum.soft_kth_value(t[:, None], torch.tensor([1.0, 2.0]))
    want = lapsum.soft_kth_value(x[:, None], np.array([1.0, 2.0]))
    np.testing.assert_array_equal(got.numpy(), want)
