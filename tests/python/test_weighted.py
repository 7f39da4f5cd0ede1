"""Weights of elements in the core: by hand, as repetitions, and by the table of tolerances."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pytest
from rows import FAMILIES, row
from tolerances import allowed, assert_within
from weighted import FLAGS, INVERSES, MASKS, OPERATIONS, Row

import lapsum
from lapsum import _core, reference

DTYPES = ("float32", "float64")
inf, nan = np.inf, np.nan


def topk(x, weights, k, alpha=1.0, op="soft_topk", dtype="float64"):
    return Row(op, np.array(x, dtype), np.array(weights, dtype), k, alpha, True).value()[0]


# --- by hand -------------------------------------------------------------------------------------

HALVING = 1 / np.log(2)  # so that F(1) = 3/4, F(2) = 7/8


@pytest.mark.parametrize("dtype", DTYPES)
def test_topk_by_hand(dtype):
    def close(got, want):
        assert_within("soft_topk", dtype, "value", got, want)

    close(topk([0, 2], [1, 1], 1, HALVING, dtype=dtype), [0.25, 0.75])
    close(topk([0, 1, 2], [1, 0, 1], 1, HALVING, dtype=dtype), [0.25, 0.5, 0.75])
    close(topk([5, 5], [1, 3], 1, dtype=dtype), [0.25, 0.25])
    close(topk([30, 0, 20, 10], [1, 5, 1, 1], 2, 0.05, dtype=dtype), [1, 0, 1, 0])
    # A plateau where only elements without weight are near.
    close(topk([0, 10, 20, 30], [1, 0, 0, 1], 1, 0.01, dtype=dtype), [0, 0, 1, 1])
    close(topk([0, 15, 30], [1, 0, 1], 1, 0.01, dtype=dtype), [0, 0.5, 1])
    log_p = topk([0, 15, 30], [1, 0, 1], 1, 0.01, "log_soft_topk", dtype)
    want = [-1500 - np.log(2), -np.log(2), 0]
    assert_within("log_soft_topk", dtype, "value", log_p, want)


def test_topk_at_the_ends():
    for k, p in ((-1, 0), (0, 0), (3, 1), (4, 1), (inf, 1)):
        np.testing.assert_array_equal(topk([1, 2, 3], [0.5, 0, 2.5], [k]), np.full(3, p))
    for k, p in ((-1, 0), (0, 0), (1e-300, 1), (1, 1)):
        np.testing.assert_array_equal(topk([1, 2, -inf], [0, 0, 0], [k]), [p, p, 0])


def test_topk_of_infinities():
    def same(x, weights, k, want):
        np.testing.assert_array_equal(topk(x, weights, [k]), want)

    same([inf, 3, inf], [2, 1, 1], 1.5, [0.5, 0, 0.5])
    same([inf, 3, inf], [2, 1, 0], 1, [0.5, 0, 0.5])
    same([inf, 3, inf], [2, 1, 1], 3, [1, 0, 1])
    same([inf, 3, 4], [0, 2, 2], 2, [1, *topk([3, 4], [2, 2], [2])])
    same([-inf, 3, 4], [9, 2, 2], 4, [0, 1, 1])
    same([-inf, 3, 4], [9, 2, 2], 10, [0, 1, 1])
    same([-inf, 3, 3], [9, 2, 2], 1, [0, 0.25, 0.25])
    x, weights = np.array([inf, 3.0, inf]), np.array([2.0, 1, 1])
    share = Row("soft_topk", x, weights, 1.5, 1.0, True)
    gx, gweights, gk, galpha = share.vjp([1, 1, 2])
    np.testing.assert_array_equal(gx, [0, 0, 0])
    np.testing.assert_array_equal(gk, [1])
    np.testing.assert_array_equal(gweights, [-0.5, 0, -0.5])
    np.testing.assert_array_equal(galpha, [0])
    np.testing.assert_array_equal(share.jvp(None, [1, 1, 3], [0.5], None)[0], [-0.5, 0, -0.5])


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bad_weights_make_their_row_nan(op, dtype):
    x = np.tile(np.array([1.0, 2, 3], dtype), (5, 1))
    weights = np.ones_like(x)
    weights[1:, 1] = [-1, nan, inf, -0.0]
    k = () if op == "soft_rank" else (np.full((5, 1), 0.5),)
    out = np.zeros((5, 1 if op in INVERSES else 3), dtype)
    flags = (True, 1) if op in FLAGS else (1,)
    getattr(_core, f"weighted_{op}")(x, weights, *k, 1.0, out, *flags)
    assert np.isnan(out[1:4]).all() and np.isfinite(out[[0, 4]]).all()
    gx, gw, galpha = np.zeros_like(x), np.zeros_like(x), np.zeros(5)
    gk = () if op == "soft_rank" else (np.zeros(5),)
    getattr(_core, f"weighted_{op}_vjp")(
        x, weights, *k, 1.0, out * 0 + 1, gx, gw, *gk, galpha, *flags
    )
    for gradient in (gx, gw, *gk, galpha):
        assert np.isnan(gradient[1:4]).all() and np.isfinite(gradient[[0, 4]]).all()


# --- weights of every kind -----------------------------------------------------------------------


def draw_weights(kind, n, dtype):
    rng = np.random.default_rng([n, len(kind)])
    weights = {
        "ones": np.ones(n),
        "uniform": rng.uniform(0.1, 1, n),
        "whole": rng.integers(0, 4, n),
        "sparse": rng.uniform(0.5, 2, n) * (rng.random(n) < 0.3),
        "wide": 10 ** rng.uniform(-6, 6, n),
    }[kind].astype(dtype)
    if not weights.any():
        weights[0] = 2
    return weights


KINDS = ("ones", "uniform", "whole", "sparse", "wide")


class Case:
    """A call with its Jacobians and the scales of its tolerances."""

    def __init__(self, op, x, weights, k, alpha, reverse, label):
        self.name, self.op, self.x, self.weights = f"weighted_{op}", op, x, weights
        self.k, self.alpha, self.label = k, alpha, label
        self.call = Row(op, x, weights, k, alpha, reverse)
        self.flags = {FLAGS[op]: reverse} if op in FLAGS else {}
        self.rng = np.random.default_rng(x.size)

    def __str__(self):
        return f"[{self.label} n={self.x.size} k={self.k} alpha={self.alpha} {self.flags}]"

    def refer(self, name):
        levels = () if self.k is None else (self.k if self.op in MASKS else np.array([self.k]),)
        f = getattr(reference, name)
        return f(self.x, *levels, self.alpha, weights=self.weights, **self.flags)

    @cached_property
    def jacobians(self):
        return [j.reshape(-1, *j.shape[1:]) for j in self.refer(f"{self.op}_jacobian")]

    @cached_property
    def scales(self):
        scales = {"n": self.x.size, "x": self.x[self.weights > 0], "alpha": self.alpha}
        scales["w"] = self.weights
        if self.k is not None:
            quantile = self.op == "soft_quantile"
            level = self.k * (self.weights.sum(dtype=np.longdouble) if quantile else 1)
            x = -self.x if self.flags.get("largest") else self.x
            root = reference.threshold(x, level, self.alpha, weights=self.weights)
            scales["k"] = level
            scales["z"] = 1 + np.abs(root.z[self.weights > 0]).min()
        else:

            def crowd(w):
                near = (
                    reference.lap_kernel(self.x, w, self.x, self.alpha, "even", p) for p in (0, 1)
                )
                return sum(near)

            scales["D"] = crowd(self.weights) + self.weights * crowd(np.ones(self.x.size))
        return scales

    @cached_property
    def steepest(self):
        """The largest derivative of an output in its level."""
        if self.k is None:
            return None
        whole = self.weights.sum(dtype=np.longdouble) if self.op == "soft_quantile" else 1
        return np.abs(self.jacobians[2]).max() / whole

    def assert_within(self, quantity, got, want, **scales):
        scales = self.scales | scales
        assert_within(self.name, self.x.dtype, quantity, got, want, case=str(self), **scales)

    def assert_as_good(self, got, want):
        """Both results may be off by what the table allows, and by their own roundings."""
        limit = allowed(self.op, self.x.dtype, "value", y=want, **self.scales | {"n": want.size})
        np.testing.assert_array_less(np.abs(got - want), 2 * limit, err_msg=str(self))

    def check_value(self):
        got, want = self.call.value()[0], self.refer(self.op)
        self.assert_within("value", got, want)
        if self.op == "soft_topk":
            total = (got.astype(np.longdouble) * self.weights).sum()
            self.assert_within("sum", total, self.k)

    @property
    def arguments(self):
        second = {None: (), "soft_quantile": ("q",)}.get(self.k and self.op, ("k",))
        return ("r" if self.op == "lap_sum_inverse" else "x", "weights", *second, "alpha")

    def is_out_of_range(self, jacobian):
        return np.abs(jacobian).max() > np.sqrt(np.finfo(self.x.dtype).max)

    def check_vjp(self):
        g = self.rng.normal(size=self.call.shape[1]).astype(self.x.dtype)
        wide = g.astype(np.longdouble)
        for name, got, jacobian in zip(
            self.arguments, self.call.vjp(g), self.jacobians, strict=True
        ):
            if self.is_out_of_range(jacobian):
                assert np.isfinite(got).all(), f"{self.name} grad_{name} {self}: {got}"
                continue
            jacobian = jacobian.reshape(g.size, -1)
            want, size = wide @ jacobian, np.abs(wide) @ np.abs(jacobian)
            self.assert_within(f"grad_{name}", got, want, g=g, Jg=size, L=self.steepest)

    def check_jvp(self):
        for i, (name, jacobian) in enumerate(zip(self.arguments, self.jacobians, strict=True)):
            jacobian = jacobian.reshape(self.call.shape[1], -1)
            tangent = self.rng.normal(size=jacobian.shape[1])
            tangent = tangent.astype(self.x.dtype if i < 2 else np.float64)
            tangents = [None] * len(self.jacobians)
            tangents[i] = tangent
            got = self.call.jvp(*tangents)[0]
            if self.is_out_of_range(jacobian):
                assert np.isfinite(got).all(), f"{self.name} along {name} {self}: {got}"
                continue
            wide = tangent.astype(np.longdouble)
            want, size = jacobian @ wide, np.abs(jacobian) @ np.abs(wide)
            more = {"D": self.scales["D"].max()} if "D" in self.scales else {"L": self.steepest}
            self.assert_within(f"grad_{name}", got, want, g=tangent, Jg=size, **more)


def cases(op, x, weights, alpha, label):
    total = float(weights.sum(dtype=np.float64))
    reverse = bool((x.size + len(label)) % 2)
    signed = -alpha if x.size % 3 == 2 else alpha
    whole = float(np.sort(weights)[: x.size // 2].sum(dtype=np.float64))
    levels = {0.01 * total, 0.5 * total, 0.9 * total, whole}
    if op == "soft_quantile":
        levels = {0.125, 0.5, 0.9, 1 / 3}
    if op == "soft_rank":
        levels = {None}
    return [Case(op, x, weights, k, signed, reverse, label) for k in levels if k is None or k > 0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPERATIONS)
def test_values_and_derivatives(op, dtype, kind):
    for family in ("normal", "ties", "clusters", "one_outlier", "around_1e6"):
        for n in (1, 2, 3, 8, 33):
            for alpha in (1e-4, 1e-2, 1.0, 1e2) if n < 33 else (1e-2, 1.0):
                x, weights = row(family, n, dtype), draw_weights(kind, n, dtype)
                for case in cases(op, x, weights, alpha, f"{family} {kind}"):
                    case.check_value()
                    case.check_vjp()
                    case.check_jvp()


# --- long rows -----------------------------------------------------------------------------------

LONG = [(family, kind, 30_011) for family in ("normal", "clusters") for kind in ("sparse", "wide")]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("family", "kind", "n"), LONG)
def test_long_masks_and_roots(family, kind, n, dtype):
    """The products of the Jacobians are written out."""
    x, weights, alpha = row(family, n, dtype), draw_weights(kind, n, dtype), 0.05
    g = np.random.default_rng(n).normal(size=n).astype(dtype)
    total = float(weights.sum(dtype=np.float64))
    for k in (0.3 * total, 0.001 * total):
        root = reference.threshold(x, k, alpha, weights=weights)
        p = reference.cdf(root.z)
        scales = {"L": root.lift.max(), "z": 1 + np.abs(root.z[weights > 0]).min()}

        case = Case("soft_topk", x, weights, k, alpha, False, f"{family} {kind}")
        got = case.call.value()[0]
        case.assert_within("value", got, p)
        case.assert_within("sum", (got.astype(np.longdouble) * weights).sum(), k)
        gx, gweights, gk, galpha = case.call.vjp(g)
        up, size = root.s @ g, root.s @ np.abs(g)
        limit = root.q * size + root.s * np.abs(g)
        case.assert_within("grad_x", gx, root.q * up - root.s * g, g=g, Jg=limit, **scales)
        up, size = root.lift @ g, root.lift @ np.abs(g)
        case.assert_within("grad_k", gk, [up], g=g, Jg=size, **scales)
        case.assert_within("grad_weights", gweights, -up * p, g=g, Jg=size * p, **scales)
        moved = root.s * (root.z - root.q @ root.z)
        ga = np.array([-moved @ g]), np.abs(moved) @ np.abs(g)
        case.assert_within("grad_alpha", galpha, ga[0], g=g, Jg=ga[1], **scales)

        case = Case("lap_sum_inverse", x, weights, k, alpha, False, f"{family} {kind}")
        case.assert_within("value", case.call.value()[0], np.array([root.b]))
        gr, gweights, gk, galpha = case.call.vjp([2])
        scales["L"] = root.rate
        case.assert_within("grad_r", gr, 2 * root.q, g=2, Jg=2 * root.q, **scales)
        rate = 2 * root.rate
        case.assert_within("grad_k", gk, [rate], g=2, Jg=rate, **scales)
        case.assert_within("grad_weights", gweights, -rate * p, g=2, Jg=rate * p, **scales)
        mean = 2 * root.q @ root.z
        case.assert_within("grad_alpha", galpha, [mean], g=2, Jg=abs(mean), **scales)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("family", "kind", "n"), LONG)
def test_long_ranks(family, kind, n, dtype):
    x, weights, alpha = row(family, n, dtype), draw_weights(kind, n, dtype), 0.05
    g = np.random.default_rng(n).normal(size=n).astype(dtype)
    at = np.array([0, n // 3, n - 1])
    call = Row("soft_rank", x, weights, None, alpha)
    wide, label = weights.astype(np.longdouble), f"[{family} {kind}]"

    def check(quantity, got, want, **scales):
        scales |= {"w": weights, "g": g, "alpha": alpha}
        assert_within("weighted_soft_rank", dtype, quantity, got[at], want, case=label, **scales)

    def kernel(w, shape="even", order=0, softness=alpha):
        return reference.lap_kernel(x, w, x[at], softness, shape, order)

    check("value", call.value()[0], kernel(wide, "cdf") - wide[at] / 2)
    gx, gweights, _ = call.vjp(g)
    want = (g[at] * kernel(wide) - wide[at] * kernel(g)) / (2 * np.longdouble(alpha))
    check("grad_x", gx, want, D=kernel(wide) + wide[at] * kernel(np.ones(n)))
    check("grad_weights", gweights, kernel(g, "cdf", softness=-alpha) - g[at] / np.longdouble(2))


# --- what weights mean ---------------------------------------------------------------------------


def unweighted(op, x, k, alpha, reverse):
    levels = () if k is None else (k,)
    flags = {FLAGS[op]: reverse} if op in FLAGS else {}
    return np.atleast_1d(getattr(lapsum, op)(x, *levels, alpha, **flags))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPERATIONS)
def test_whole_weights_repeat_elements(op, dtype, family):
    """Elements of weight 0 are as good as absent; ones are no weights at all."""
    for n in (1, 2, 9, 70, 300):
        x, times = row(family, n, dtype), np.random.default_rng(n).integers(0, 4, n)
        times[0] = 2
        for weights in (times, np.ones(n, int)):
            many, total = np.repeat(x, weights), weights.sum()
            levels = {"soft_rank": [None], "soft_quantile": [0.125, 0.75]}.get(
                op, [0.25, total // 2 or 0.5, 0.7 * total]
            )
            for k in levels:
                for alpha in (1e-3, 0.5):
                    case = Case(op, x, weights.astype(dtype), k, alpha, n % 2 == 0, family)
                    got = case.call.value()[0]
                    want = unweighted(op, many, k, alpha, n % 2 == 0)
                    if op == "soft_rank":
                        got = got + ((weights - 1) / 2).astype(dtype)
                    if op not in INVERSES:
                        got = np.repeat(got, weights)
                    case.assert_as_good(got, want)
