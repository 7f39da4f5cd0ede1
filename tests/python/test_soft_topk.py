"""soft_topk and log_soft_topk: levels k, saturation, infinities, plateaus."""

from __future__ import annotations

import numpy as np
import pytest
from tolerances import assert_within

import lapsum

BOTH = pytest.mark.parametrize("log", [False, True], ids=["soft_topk", "log_soft_topk"])


def topk(x, k, alpha=1.0, *, log=False, **options):
    """p, by either function."""
    if log:
        return np.exp(lapsum.log_soft_topk(x, k, alpha, **options))
    return lapsum.soft_topk(x, k, alpha, **options)


def gradients(x, k, alpha=1.0, *, log=False, g=None, **options):
    name = "log_soft_topk" if log else "soft_topk"
    value = getattr(lapsum, name)(x, k, alpha, **options)
    g = np.cos(np.arange(value.size)).reshape(value.shape).astype(value.dtype) if g is None else g
    return getattr(lapsum, f"{name}_vjp")(x, k, alpha, g, **options)


def test_by_hand():
    # One element: p = k. Two elements a distance 2 apart, k = 1: b is the middle, p = 1 - e^-1 / 2.
    assert lapsum.soft_topk(np.array([3.0]), 0.25, 5.0)[0] == 0.25
    far = np.exp(-1) / 2
    got = lapsum.soft_topk(np.array([0.0, 2.0]), 1)
    assert_within("soft_topk", "float64", "value", got, [far, 1 - far])
    # Equal elements share k evenly.
    assert_within("soft_topk", "float64", "value", lapsum.soft_topk(np.ones(4), 1.5), [0.375] * 4)


@BOTH
def test_the_limits_are_exact_and_without_gradient(log):
    x = np.array([0.3, -2.0, 5.0, 5.0])
    assert (topk(x, 0, log=log) == 0).all()
    assert (topk(x, 4, log=log) == 1).all()
    for k in (0, 4):
        gx, gk, galpha = gradients(x, k, log=log)
        assert not gx.any()
        assert gk == 0
        assert galpha == 0


@BOTH
@pytest.mark.parametrize("k", [7, -0.5, np.nan, np.inf])
def test_a_number_k_out_of_its_domain_raises(log, k):
    name = "log_soft_topk" if log else "soft_topk"
    message = rf"^{name}: k must be in \[0, n\], got k=(7|-0\.5|nan|inf) with n=5$"
    with pytest.raises(ValueError, match=message):
        getattr(lapsum, name)(np.zeros(5), k)


@BOTH
def test_an_array_of_k_saturates(log):
    x = np.array([0.3, -2.0, 5.0])
    k = np.array([-1.0, 0.0, 1.5, 3.0, 99.0, np.nan, np.inf, -np.inf])
    p = topk(x, k, log=log)
    for row, want in ((0, 0), (1, 0), (3, 1), (4, 1), (6, 1), (7, 0)):
        assert (p[row] == want).all()
    np.testing.assert_array_equal(p[2], topk(x, 1.5, log=log))
    assert np.isnan(p[5]).all()
    gx, gk, _ = gradients(x, k[:5], log=log)
    assert np.isfinite(gx).all()
    assert (gk != 0).tolist() == [False, False, True, False, False]


@BOTH
@pytest.mark.parametrize("largest", [True, False])
def test_an_element_at_the_far_infinity_is_never_chosen(log, largest):
    sign = 1 if largest else -1
    x = sign * np.array([0.5, -np.inf, 1.5, 3.0, -np.inf])
    p = topk(x, 2.2, 0.5, log=log, largest=largest)
    kept = [0, 2, 3]
    assert (p[[1, 4]] == 0).all()
    without = topk(x[kept], 2.2, 0.5, log=log, largest=largest)
    assert_within("soft_topk", "float64", "value", p[kept], without)
    gx, gk, galpha = gradients(x, 2.2, 0.5, log=log, largest=largest, g=np.ones(5))
    assert (gx[[1, 4]] == 0).all()
    assert np.isfinite(gx).all()
    assert np.isfinite(gk)
    assert np.isfinite(galpha)
    for k in (3.0, 3.7, 5.0):
        assert (topk(x, k, log=log, largest=largest)[kept] == 1).all()
        assert (topk(x, k, log=log, largest=largest)[[1, 4]] == 0).all()


@BOTH
def test_elements_at_the_near_infinity_come_first(log):
    x = np.array([np.inf, 0.0, np.inf, 1.0])
    p = topk(x, 2.5, log=log)
    assert (p[[0, 2]] == 1).all()
    # Rows with infinities take another way: the same value, not the same bits.
    assert_within("soft_topk", "float64", "value", p[[1, 3]], topk(x[[1, 3]], 0.5, log=log))
    shared = topk(x, 1.0, log=log)
    assert_within("soft_topk", "float64", "value", shared, [0.5, 0, 0.5, 0])
    _, gk, _ = gradients(x, 1.0, log=log, g=np.ones(4))
    assert_within("soft_topk", "float64", "value", gk, 2.0 if log else 1.0)


def test_an_integer_k_over_a_wide_gap_is_exact():
    x = np.array([0.0, 10.0, 20.0, 30.0])
    for dtype in (np.float32, np.float64):
        p = lapsum.soft_topk(x.astype(dtype), 2, 0.05)
        assert p[2:].tolist() == [1, 1]
        assert (p[:2] < 1e-40).all()
    # Both neighbours of the threshold move it alike, though every density underflows.
    x = np.array([0.0, 1.0, 1001.0, 1005.0])
    gx, gk, _ = lapsum.soft_topk_vjp(x, 2, 1e-3, np.array([0.0, 1.0, 3.0, 0.0]))
    assert not gx.any()
    assert_within("soft_topk", "float64", "value", gk, 2.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_logarithm_is_finite_where_p_underflows(dtype):
    x = np.array([-1e30, 0.0, 3.0, 1e30], dtype)
    for alpha in (1e-4, 1.0):
        for k in (0.5, 1, 2, 3, 3.5):
            assert np.isfinite(lapsum.log_soft_topk(x, k, alpha)).all()
            gx, gk, galpha = gradients(x, k, alpha, log=True, g=np.ones(4, dtype))
            assert np.isfinite(gx).all()
            assert np.isfinite(gk)
            assert np.isfinite(galpha)


@pytest.mark.parametrize("largest", [True, False])
def test_the_complement_of_the_logarithm(largest):
    x = np.array([[0.3, -2.0, 5.0, 0.0], [1e3, -np.inf, np.inf, 7.0]])
    for k in (1.5, 2, np.array([3.5, 3.5])):
        for alpha in (0.5, np.array([1.0, -1e-3])):
            logp, rest = lapsum.log_soft_topk(x, k, alpha, largest=largest, return_complement=True)
            p = lapsum.soft_topk(x, k, alpha, largest=largest)
            assert_within("soft_topk", "float64", "value", np.exp(logp), p)
            assert_within("soft_topk", "float64", "sum", np.exp(rest), 1 - p, k=4)
    both = lapsum.log_soft_topk(x[:1], 2, 1e-4, largest=largest, return_complement=True)
    assert np.isfinite(both).all()


def test_ties_at_a_tiny_alpha():
    p = lapsum.soft_topk(np.array([1.0, 1.0, 1.0, 0.0]), 2, 1e-8)
    assert_within("soft_topk", "float64", "value", p, [2 / 3, 2 / 3, 2 / 3, 0])


@BOTH
def test_many_k_are_one_k_at_a_time(log):
    x = np.random.default_rng(0).normal(size=(6, 1, 50))
    k = np.array([7.5, 1, 49.9, 25, 7.5])
    p = topk(x, k, 0.3, log=log)
    assert p.shape == (6, 5, 50)
    for j, one in enumerate(k):
        want = topk(x[:, 0], float(one), 0.3, log=log)
        assert_within("soft_topk", "float64", "value", p[:, j], want)
    gx, gk, galpha = gradients(x, k, 0.3, log=log, g=np.ones_like(p))
    assert gx.shape == x.shape
    assert gk.shape == k.shape
    assert np.ndim(galpha) == 0


def test_k_broadcasts_with_the_batch_in_every_way():
    x = np.random.default_rng(1).normal(size=(3, 1, 7))
    for shape in [(), (1,), (4,), (3, 1), (3, 4), (2, 1, 4), (2, 3, 1)]:
        k = np.random.default_rng(2).uniform(0.5, 6.5, size=shape)
        for alpha in (0.5, np.full((3, 1), 0.5), np.full(4, 0.5), np.full((2, 1, 1), 0.5)):
            p = lapsum.soft_topk(x, k, alpha)
            full = np.broadcast_shapes(shape, np.shape(alpha), (3, 1))
            assert p.shape == (*full, 7)
            assert_within("soft_topk", "float64", "sum", p.sum(-1), np.broadcast_to(k, full), k=7.0)


def test_integer_arrays_of_k_are_welcome():
    x = np.random.default_rng(1).normal(size=(5, 7))
    np.testing.assert_array_equal(
        lapsum.soft_topk(x, np.arange(1, 6)), lapsum.soft_topk(x, np.arange(1.0, 6.0))
    )
    with pytest.raises(TypeError, match="soft_topk: k must be a real number or an array of them"):
        lapsum.soft_topk(x, "two")


def test_the_gradient_does_not_see_a_shift():
    x = np.random.default_rng(3).normal(size=1000)
    gx, _, _ = gradients(x, 30, 0.1)
    assert_within("adjoint", "float64", "value", gx.sum(), 0.0, size=np.abs(gx).sum())


@pytest.mark.parametrize("name", ["soft_topk", "log_soft_topk"])
@pytest.mark.parametrize("others", [np.float16, np.float32])
@pytest.mark.parametrize("rows", [6, 1])
@pytest.mark.parametrize("padded", [False, True])
def test_float16_is_float32_rounded(name, others, rows, padded):
    draw = np.random.default_rng(4)
    x, dx = draw.normal(size=(2, rows, 700)).astype(np.float16)
    g = draw.normal(size=(6, 700)).astype(np.float16)
    numbers = np.linspace(1, 50.5, 6), np.full(6, -0.2)
    options = {"mask": draw.uniform(size=x.shape) > 0.2} if padded else {}
    value, vjp, jvp = (getattr(lapsum, name + part) for part in ("", "_vjp", "_jvp"))

    def results(dtype, others):
        row = x.astype(dtype), *numbers
        return [
            value(*row, **options),
            *vjp(*row, g.astype(others), **options),
            jvp(*row, dx.astype(others), None, None, **options),
        ]

    got, want = results(np.float16, others), results(np.float32, np.float32)
    assert [a.dtype for a in got] == [np.float16, np.float16, np.float64, np.float64, np.float16]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b.astype(a.dtype))


@pytest.mark.parametrize("log", [False, True])
def test_a_row_of_float16_is_float32_rounded(log):
    x = np.random.default_rng(5).normal(size=(3, 1000)).astype(np.float16)
    for row in (x, x[:, ::2], np.asfortranarray(x)):
        name = "log_soft_topk" if log else "soft_topk"
        got, want = (getattr(lapsum, name)(a, 40, 0.3) for a in (row, row.astype(np.float32)))
        np.testing.assert_array_equal(got, want.astype(np.float16))
