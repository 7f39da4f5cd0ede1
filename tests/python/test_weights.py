"""Weights of elements through the front ends: an element that counts w times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerances import assert_within

import lapsum

TAKES = {
    "soft_rank": (0.7,),
    "soft_topk": (3.4, 0.7),
    "log_soft_topk": (3.4, 0.7),
    "soft_kth_value": (3.4, 0.7),
    "soft_quantile": (0.3, 0.7),
}
BY_ELEMENT = ("soft_rank", "soft_topk", "log_soft_topk")
names = pytest.mark.parametrize("name", TAKES)


def call(name, x, **options):
    return getattr(lapsum, name)(x, *TAKES[name], **options)


@names
@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.floats(-3, 3), st.integers(0, 3)), min_size=4, max_size=12),
    st.booleans(),
)
def test_whole_weights_repeat_an_element(name, row, turn):
    x, w = (np.array(column) for column in zip(*row, strict=True))
    x = x.astype(float)
    if w.sum() < 4:
        w[0] += 4
    repeated = np.repeat(x, w)
    options = {} if name == "soft_quantile" else {_flag(name): turn}
    want = call(name, repeated, **options)
    got = call(name, x, weights=w, **options)
    if name in BY_ELEMENT:
        got = np.repeat(got, w)
    if name == "soft_rank":  # an element repeated counts its own copies too, by half
        got = got + 0.5 * (np.repeat(w, w) - 1)
    n, extra = repeated.size, {}
    if name in ("soft_kth_value", "soft_quantile"):
        extra = {"x": repeated, "alpha": 0.7}
    assert_within(_line(name), "float64", "value", got, want, n=n, **extra)


def _flag(name):
    return "descending" if name == "soft_rank" else "largest"


def _line(name):
    return {"soft_kth_value": "lap_sum_inverse", "soft_quantile": "lap_sum_inverse"}.get(name, name)


def test_a_weighted_mask_sums_to_k():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 50)), rng.uniform(0, 2, size=(2, 50))
    p = lapsum.soft_topk(x, 7.5, 0.3, weights=w)
    assert_within("soft_topk", "float64", "sum", (w * p).sum(-1), np.full(2, 7.5), k=50)


@names
def test_gradients_of_the_numpy_functions_agree_with_torch(name):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(3, 6)), rng.uniform(0.2, 2, size=6)
    lengths = np.array([6, 4, 5])
    value = call(name, x, weights=w, lengths=lengths)
    g = rng.normal(size=value.shape)
    grads = getattr(lapsum, f"{name}_vjp")(x, *TAKES[name], g, weights=w, lengths=lengths)
    args = [torch.tensor(a, requires_grad=True, dtype=torch.float64) for a in (x, *TAKES[name], w)]
    out = getattr(lapsum, name)(*args[:-1], weights=args[-1], lengths=torch.tensor(lengths))
    assert out.detach().numpy().tobytes() == value.tobytes()
    got = torch.autograd.grad(torch.where(torch.isfinite(out), out, 0.0), args, torch.tensor(g))
    for a, b in zip(grads, got, strict=True):
        assert_within("composed", "float64", "agreement", a, b.numpy())


@names
def test_the_derivative_along_a_direction_is_the_gradient_times_it(name):
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=6), rng.uniform(0.2, 2, size=6)
    along = [rng.normal(size=np.shape(a)) for a in (x, *TAKES[name])]
    dw = rng.normal(size=6)
    dy = getattr(lapsum, f"{name}_jvp")(x, *TAKES[name], *along, weights=w, dweights=dw)
    g = rng.normal(size=dy.shape)
    grads = getattr(lapsum, f"{name}_vjp")(x, *TAKES[name], g, weights=w)
    want = sum((a * b).sum() for a, b in zip(grads, (*along, dw), strict=True))
    assert_within("composed", "float64", "agreement", (g * dy).sum(), want)


@names
def test_derivatives_of_any_mode_and_order(name):
    torch = pytest.importorskip("torch")
    draw = torch.Generator().manual_seed(3)
    x = torch.randn(2, 5, dtype=torch.float64, generator=draw)
    w = torch.rand(2, 5, dtype=torch.float64, generator=draw) + 0.4
    rest = [torch.tensor(0.5 * a, dtype=torch.float64) for a in TAKES[name]]
    inputs = [t.requires_grad_() for t in (x, *rest, w)]

    def function(*args):
        *first, weights = args
        return getattr(lapsum, name)(*first, weights=weights)

    assert torch.autograd.gradcheck(function, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, inputs)


def test_the_complement_has_the_rest_of_the_weight():
    x, w = np.array([3.0, 1.0, 2.0, -np.inf]), np.array([1.0, 2.0, 0.5, 4.0])
    logp, rest = lapsum.log_soft_topk(x, 1.2, 0.5, weights=w, return_complement=True)
    total = np.exp(logp) + np.exp(rest)
    assert_within("soft_topk", "float64", "sum", total, np.ones(4), k=4)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_bad_weights(library):
    array = np.array if library == "numpy" else pytest.importorskip("torch").tensor
    x = array([1.0, 2.0])
    with pytest.raises(TypeError, match=r"soft_topk: hard and weights exclude each other"):
        lapsum.soft_topk(x, 1, weights=array([1.0, 1.0]), hard=True)
    with pytest.raises(TypeError, match=r"soft_topk: weights must be real numbers, got .*bool"):
        lapsum.soft_topk(x, 1, weights=array([True, True]))
    with pytest.raises(ValueError, match=r"soft_topk: weights must broadcast .* got \(3,\)"):
        lapsum.soft_topk(x, 1, weights=array([1.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match=r"k must be in \[0, "):
        lapsum.soft_topk(x, -1.0, weights=array([1.0, 1.0]))
    assert np.isnan(np.asarray(lapsum.soft_topk(x, 1, weights=array([1.0, -1.0])))).all()
