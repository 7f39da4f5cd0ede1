"""Executes the table of tolerances: values and derivatives against the oracle, on all row families.

A tangent's bound is that of the gradient in the same argument: both read the same Jacobian.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pytest
from rows import FAMILIES, levels, row
from tolerances import allowed, assert_within

import lapsum
from lapsum import reference

DTYPES = ("float32", "float64")
ALPHAS = (1e-4, 1e-2, 1.0, 1e2, 1e4)
SIZES = (1, 2, 3, 5, 8, 17, 64)
LONGER_SIZES = {100: ALPHAS, 257: (1e-4, 1.0, 1e4)}
ARGUMENTS = {
    "lap_sum": ("r", "x", "alpha"),
    "lap_sum_inverse": ("r", "k", "alpha"),
    "soft_kth_value": ("x", "k", "alpha"),
    "soft_quantile": ("x", "q", "alpha"),
    "soft_rank": ("x", "alpha"),
    "soft_sort": ("x", "alpha"),
    "soft_topk": ("x", "k", "alpha"),
    "log_soft_topk": ("x", "k", "alpha"),
    "soft_permutation": ("x", "alpha"),
    "soft_permute": ("x", "values", "alpha"),
}
MASKS = ("soft_topk", "log_soft_topk")
LEVELLED = (*MASKS, "lap_sum_inverse", "soft_kth_value", "soft_quantile")


class Case:
    """One call: an operation with its arguments, and the scales its tolerances are made of."""

    def __init__(self, op, args, label, **flags):
        self.op, self.args, self.label, self.flags = op, args, label, flags
        self.x, self.alpha = args[0], args[-1]
        self.rng = np.random.default_rng(self.x.size)

    def __str__(self):
        rest = [a for a in self.args[1:] if np.size(a) == 1]
        return f"[{self.label} n={self.x.size} {rest} {self.flags}]"

    @cached_property
    def jacobians(self):
        return getattr(reference, f"{self.op}_jacobian")(*self.args, **self.flags)

    @cached_property
    def root(self):
        """The threshold of an operation at one level."""
        k = np.asarray(self.args[1], np.longdouble).item()
        level = k * self.x.size if self.op == "soft_quantile" else k
        reverse = self.flags.get("largest", False)
        return reference.threshold(-self.x if reverse else self.x, level, self.alpha)

    @cached_property
    def scales(self):
        scales = {"n": self.x.size, "x": self.x, "alpha": self.alpha}
        if self.op in LEVELLED:
            scales["k"] = np.max(self.args[1])
            scales["z"] = 1 + np.abs(self.root.z).min() if np.size(self.args[1]) == 1 else np.nan
        if self.op in ("soft_rank", "soft_permutation", "soft_permute"):
            scales["D"] = reference.lap_kernel(self.x, np.ones(self.x.size), self.x, self.alpha)
        if self.op == "soft_permute":
            scales["v"] = self.args[1]
        return scales

    def assert_within(self, quantity, got, want, **scales):
        scales = self.scales | scales
        assert_within(self.op, self.x.dtype, quantity, got, want, case=str(self), **scales)

    def call(self, suffix="", *extra):
        return getattr(lapsum, self.op + suffix)(*self.args, *extra, **self.flags)

    def check_value(self):
        got = self.call()
        want = getattr(reference, self.op)(*self.args, **self.flags)
        assert got.dtype == self.x.dtype
        self.assert_within("value", got, want)
        if self.op == "soft_topk":
            self.assert_within("sum", got.sum(dtype=np.float64), self.args[1])
        if self.op == "soft_rank":
            n = self.x.size
            self.assert_within("sum", got.sum(dtype=np.float64), n * (n - 1) / 2)
        if self.op == "soft_permutation":
            for axis in (0, 1):
                self.assert_within("sum", got.sum(axis, dtype=np.float64), np.ones(self.x.size))

    def check_vjp(self):
        g = self.rng.normal(size=self.jacobians[-1].shape).astype(self.x.dtype)
        gradients = self.call("_vjp", g)
        assert len(gradients) == len(self.args)
        for name, argument, got, jacobian in zip(
            ARGUMENTS[self.op], self.args, gradients, self.jacobians, strict=True
        ):
            assert np.asarray(got).dtype == getattr(argument, "dtype", np.float64)
            if self.is_out_of_range(jacobian):
                assert np.isfinite(got).all(), f"{self.op} grad_{name} {self}: {got}"
                continue
            wide = g.astype(np.longdouble)
            want = np.tensordot(wide, jacobian, axes=g.ndim)
            size = np.tensordot(np.abs(wide), np.abs(jacobian), axes=g.ndim)
            self.assert_within(f"grad_{name}", got, want, g=g, Jg=size)

    def check_jvp(self):
        for i, (name, argument, jacobian) in enumerate(
            zip(ARGUMENTS[self.op], self.args, self.jacobians, strict=True)
        ):
            tangent = self.rng.normal(size=np.shape(argument))
            tangent = tangent.astype(getattr(argument, "dtype", np.float64))
            tangents = [None] * len(self.args)
            tangents[i] = tangent if np.ndim(argument) else float(tangent)
            got = self.call("_jvp", *tangents)
            assert got.dtype == self.x.dtype
            if self.is_out_of_range(jacobian):
                assert np.isfinite(got).all(), f"{self.op} along {name} {self}: {got}"
                continue
            wide = tangent.astype(np.longdouble)
            want = np.tensordot(jacobian, wide, axes=tangent.ndim)
            size = np.tensordot(np.abs(jacobian), np.abs(wide), axes=tangent.ndim)
            widest = {"D": self.scales["D"].max()} if "D" in self.scales else {}
            self.assert_within(f"grad_{name}", got, want, g=tangent, Jg=size, **widest)

    def is_out_of_range(self, jacobian):
        """db/dk and d log p / dk outgrow every format on a plateau."""
        return np.abs(jacobian).max() > np.sqrt(np.finfo(self.x.dtype).max)


def cases(op, x, alpha, label):
    """The calls of an operation on one row: every level, and a direction that varies by row."""
    n, rng = x.size, np.random.default_rng([x.size, 1])
    reverse = bool((n + label.count("e")) % 2)
    signed = -alpha if n % 3 == 2 else alpha
    if op in MASKS:
        return [Case(op, (x, k, signed), label, largest=reverse) for k in levels(n)]
    if op == "lap_sum_inverse":
        return [Case(op, (x, np.array([k]), signed), label) for k in levels(n)]
    if op == "soft_kth_value":
        return [Case(op, (x, np.array([k]), signed), label, largest=reverse) for k in levels(n)]
    if op == "soft_quantile":
        return [Case(op, (x, np.array([q]), signed), label) for q in (0.125, 0.5, 0.9375)]
    if op == "lap_sum":
        points = np.concatenate((x[:3], rng.choice(x, 3) + alpha * rng.normal(size=3)))
        return [Case(op, (x, points.astype(x.dtype), signed), label)]
    if op == "soft_permute":
        values = rng.normal(size=n).astype(x.dtype)
        flags = [{"transpose": t, "descending": reverse} for t in (False, True)]
        return [Case(op, (x, values, signed), label, **f) for f in flags]
    return [Case(op, (x, signed), label, descending=reverse)]


# --- every family, size, softness and level ------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ARGUMENTS)
def test_values_and_derivatives(op, dtype, family):
    for n in SIZES:
        for alpha in ALPHAS:
            for case in cases(op, row(family, n, dtype), alpha, family):
                case.check_value()
                case.check_vjp()
                case.check_jvp()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [op for op in ARGUMENTS if "perm" not in op])
def test_values_of_longer_rows(op, dtype, family):
    for n, alphas in LONGER_SIZES.items():
        for alpha in alphas:
            for case in cases(op, row(family, n, dtype), alpha, family):
                case.check_value()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("alpha", [0.3, -0.3])
@pytest.mark.parametrize("reverse", [False, True])
def test_directions(reverse, alpha, dtype):
    x, values = row("normal", 12, dtype), row("cauchy", 12, dtype)
    order = {"descending": reverse}
    for case in (
        Case("soft_rank", (x, alpha), "direction", **order),
        Case("soft_sort", (x, alpha), "direction", **order),
        Case("soft_permutation", (x, alpha), "direction", **order),
        Case("soft_permute", (x, values, alpha), "direction", **order),
        Case("soft_permute", (x, values, alpha), "direction", transpose=True, **order),
        Case("soft_topk", (x, 3.3, alpha), "direction", largest=reverse),
        Case("log_soft_topk", (x, 3.3, alpha), "direction", largest=reverse),
        Case("soft_kth_value", (x, np.array([3.3]), alpha), "direction", largest=reverse),
    ):
        case.check_value()
        case.check_vjp()
        case.check_jvp()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["lap_sum_inverse", "soft_kth_value", "soft_quantile"])
def test_many_levels(op, dtype):
    """Levels in any order, repeated, with tails, against one at a time."""
    x, alpha = row("normal", 40, dtype), 0.05
    several = np.array([0.5, 0.25, 0.75, 0.5, 0.0078125, 0.9921875, 0.25])
    if op != "soft_quantile":
        several *= x.size
    case = Case(op, (x, several, alpha), "levels")
    case.scales["z"] = 50
    case.check_value()
    case.check_vjp()
    case.check_jvp()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("transpose", [False, True])
def test_permuted_columns(transpose, dtype):
    """Columns of values are permuted alike, and their gradients in x add up."""
    x = row("clusters", 30, dtype)
    values = np.random.default_rng(5).normal(size=(30, 4)).astype(dtype)
    g = np.random.default_rng(6).normal(size=(30, 4)).astype(dtype)
    flags = {"transpose": transpose}
    out = lapsum.soft_permute(x, values, 0.2, **flags)
    gx, gvalues, galpha = lapsum.soft_permute_vjp(x, values, 0.2, g, **flags)
    singles = [
        Case("soft_permute", (x, column, 0.2), "columns", **flags)
        for column in np.ascontiguousarray(values.T)
    ]
    want_x, want_alpha = 0, 0
    for j, case in enumerate(singles):
        want = reference.soft_permute(x, values[:, j], 0.2, **flags)
        case.assert_within("value", out[:, j], want)
        j_x, j_values, j_alpha = case.jacobians
        case.assert_within("grad_values", gvalues[:, j], g[:, j] @ j_values, g=g)
        want_x, want_alpha = want_x + g[:, j] @ j_x, want_alpha + g[:, j] @ j_alpha
    total = {"g": 4 * np.abs(g).max(), "v": values}
    singles[0].assert_within("grad_x", gx, want_x, **total)
    singles[0].assert_within("grad_alpha", galpha, want_alpha, **total)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "order"), [("cdf", 0)] + [(s, p) for s in ("even", "odd") for p in range(4)]
)
def test_lap_kernel(shape, order, dtype, family):
    for n in (1, 3, 64, 257):
        x, rng = row(family, n, dtype), np.random.default_rng(n)
        w = rng.normal(size=n).astype(dtype)
        points = np.concatenate((x[:4], rng.normal(size=4).astype(dtype)))
        for alpha in (1e-2, 1.0, -1e2):
            got = lapsum.lap_kernel(x, w, points, alpha, shape=shape, order=order)
            want = reference.lap_kernel(x, w, points, alpha, shape, order)
            case = f"[{family} {n=} {alpha=} {shape}{order}]"
            assert_within("lap_kernel", dtype, "value", got, want, case=case, w=w)


# --- long rows -----------------------------------------------------------------------------------

LONG = [
    (family, n, alpha)
    for n, families, alphas in (
        (1000, ("normal", "ties", "cauchy", "around_1e6"), (1e-4, 1e-2, 1.0, 1e2)),
        (4099, ("normal", "lognormal", "one_outlier"), (1e-4, 1e-2, 1.0)),
        (100_003, ("clusters",), (1e-3, 1e-1)),
    )
    for family in families
    for alpha in alphas
]
LONGEST = [("normal", 1_000_000, 1e-2), ("lognormal", 1_000_000, 1.0)]


def check_topk(family, n, dtype, alpha, k):
    """Value, sum and gradients of soft_topk, with the Jacobian's products written out."""
    x = row(family, n, dtype)
    g = np.random.default_rng(n).normal(size=n).astype(dtype)
    case = Case("soft_topk", (x, k, alpha), family, largest=True)
    z, q, s, *_ = case.root
    p = case.call()
    case.assert_within("value", p, reference.cdf(z))
    case.assert_within("sum", p.sum(dtype=np.float64), k)
    gx, gk, galpha = case.call("_vjp", g)
    case.assert_within("grad_x", gx, s * g - q * (s @ g), g=g)
    case.assert_within("grad_k", gk, q @ g, g=g)
    case.assert_within("grad_alpha", galpha, -(s * (z - q @ z)) @ g, g=g)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("family", "n", "alpha"), LONG)
def test_long_topk(family, n, alpha, dtype):
    for k in (float(n // 2), n / 50 + 0.3):
        check_topk(family, n, dtype, alpha, k)


@pytest.mark.parametrize(
    ("family", "dtype", "alpha", "k"),
    [
        ("normal", "float32", 1e-2, 1024.0),
        ("normal", "float32", 1.0, 500_000.0),
        ("ties", "float32", 1e-2, 333_333.3),
        ("lognormal", "float64", 1.0, 10_000.5),
    ],
)
def test_longest_topk(family, dtype, alpha, k):
    check_topk(family, 1_000_000, dtype, alpha, k)


def assert_inverse(op, x, alpha, k, b):
    """Is b within its tolerance of the root? LapSum, being monotone, passes k in that distance."""
    reach = allowed(op, x.dtype, "value", y=b.astype(np.longdouble), x=x, alpha=alpha)
    rounding = 1e-18 * x.size
    assert (reference.lap_sum(x, b - reach, alpha) <= k + rounding).all(), f"{op}: b too large"
    assert (reference.lap_sum(x, b + reach, alpha) >= k - rounding).all(), f"{op}: b too small"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("family", "n", "alpha"), LONG + LONGEST)
def test_long_inverse_and_sort(family, n, alpha, dtype):
    x = row(family, n, dtype)
    at = np.unique(np.linspace(0, n - 1, 8 if n < 1_000_000 else 5).astype(int))
    assert_inverse("soft_sort", x, alpha, at + 0.5, lapsum.soft_sort(x, alpha)[at])
    k = np.array([0.25, n // 3, n // 3 + 0.2, n - 1])
    assert_inverse("lap_sum_inverse", x, alpha, k, lapsum.lap_sum_inverse(x, k, alpha))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("family", "n", "alpha"), LONG)
def test_long_sort_gradients(family, n, alpha, dtype):
    """A gradient at three positions against three softmaxes; a dense one by its sum."""
    x = row(family, n, dtype)
    case = Case("soft_sort", (x, alpha), family, descending=True)
    at = np.array([0, n // 3, n - 2])
    g = np.zeros(n, dtype)
    g[at] = [1, -2, 0.5]
    roots = [reference.threshold(-x, level + 0.5, alpha) for level in at]
    gx, galpha = case.call("_vjp", g)
    case.assert_within("grad_x", gx, g[at] @ np.array([root.q for root in roots]), g=g)
    parts = -g[at] * np.array([root.q @ root.z for root in roots])
    case.assert_within("grad_alpha", galpha, parts.sum(), g=g, Jg=np.abs(parts).sum())
    dense = np.random.default_rng(n).normal(size=n).astype(dtype)
    gx, _ = case.call("_vjp", dense)
    allowance = np.longdouble(allowed("soft_sort", dtype, "grad_x", g=dense)) * n
    assert abs(gx.sum(dtype=np.float64) - dense.sum(dtype=np.float64)) <= allowance


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("family", "n", "alpha"), LONG + LONGEST)
def test_long_rank(family, n, alpha, dtype):
    x = row(family, n, dtype)
    g = np.random.default_rng(n).normal(size=n).astype(dtype)
    at = np.unique(np.linspace(0, n - 1, 6 if n < 1_000_000 else 3).astype(int))
    rank = lapsum.soft_rank(x, alpha)
    gx, _ = lapsum.soft_rank_vjp(x, alpha, g)
    case = f"[{family} {n=} {alpha=}]"
    want = reference.lap_sum(x, x[at], alpha) - np.longdouble(0.5)
    assert_within("soft_rank", dtype, "value", rank[at], want, case=case, n=n)
    total = rank.sum(dtype=np.float64)
    assert_within("soft_rank", dtype, "sum", total, n * (n - 1) / 2, case=case, n=n)
    near = reference.lap_kernel(x, np.ones(n), x[at], alpha)
    moved = reference.lap_kernel(x, g, x[at], alpha)
    want = (g[at] * near - moved) / (2 * np.longdouble(alpha))
    scales = {"D": near, "g": g, "alpha": alpha}
    assert_within("soft_rank", dtype, "grad_x", gx[at], want, case=case, **scales)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("family", "n", "alpha"), [f for f in LONG if f[1] != 1000])
def test_long_permute(family, n, alpha, dtype):
    x = row(family, n, dtype)
    values = np.random.default_rng(n).normal(size=n).astype(dtype)
    out = lapsum.soft_permute(x, values, alpha)
    for i in (0, n // 3):
        lower, upper = (reference.threshold(x, level, alpha).z for level in (i, i + 1))
        want = reference.cdf_difference(lower, upper) @ values
        assert_within("soft_permute", dtype, "value", out[i], want, n=n, v=values)
