"""Masks and lengths: an absent element changes no bit of anything, whatever it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lapsum

NAN, INF = float("nan"), float("inf")
K, ALPHA = np.array(2.3), 0.7  # an array: it may exceed the number of elements


@dataclass(frozen=True)
class Case:
    """An operation, what stands behind x among its arguments, and where its elements are.

    `elements` are the axes of the result that go by elements, `positions` those that go by
    positions, counted from the end.
    """

    name: str
    rest: tuple[Any, ...] = (ALPHA,)
    elements: int | None = None
    positions: int | None = None
    columns: int = 0  # of values, that go by elements unless transposed
    options: tuple[tuple[str, Any], ...] = ()
    absent: float = 0.0

    def __str__(self) -> str:
        return self.name + "".join(f"-{key}" for key, _ in self.options)

    @property
    def transposed(self) -> bool:
        return ("transpose", True) in self.options

    def where(self, idx: Any, n: int, result: Any) -> tuple[Any, ...] | None:
        """The index of all that belongs to present elements; None if everything does."""
        if self.elements is None and self.positions is None:
            return None
        axes: list[Any] = [np.arange(size) for size in result.shape]
        if self.elements is not None:
            axes[self.elements] = idx
        if self.positions is not None:
            axes[self.positions] = np.arange(n)
        return np.ix_(*axes)


CASES = [
    Case("soft_rank", elements=-1),
    Case("soft_sort", positions=-1),
    Case("soft_topk", (K, ALPHA), elements=-1),
    Case("log_soft_topk", (K, ALPHA), elements=-1, absent=-INF),
    Case("soft_kth_value", (K, ALPHA)),
    Case("soft_quantile", (0.3, ALPHA)),
    Case("soft_permutation", elements=-1, positions=-2),
    Case("soft_permute", positions=-2, columns=2),
    Case("soft_permute", elements=-2, columns=2, options=(("transpose", True),)),
    Case("lap_sum", (np.linspace(-2.0, 2.0, 5), ALPHA)),
    Case("lap_sum_inverse", (np.array([0.4, 1.0, 2.5]), ALPHA)),
]

junk = st.sampled_from([NAN, INF, -INF, 1e30, 0.0, -1.0])
rows = st.lists(st.floats(-3, 3), min_size=0, max_size=9)


@st.composite
def padded(draw):
    """Present elements, where they stand in a longer row, and what fills that row."""
    x = np.array(draw(rows))
    width = x.size + draw(st.integers(0, 7))
    idx = np.array(sorted(draw(st.permutations(range(width)))[: x.size]), dtype=int)
    return x, idx, width, draw(junk)


def bits(a: Any) -> bytes:
    return np.ascontiguousarray(a).tobytes()


def embed(a: Any, index: Any, shape: Any, filler: float) -> Any:
    out = np.full(shape, filler, np.asarray(a).dtype)
    out[index] = a
    return out


def numbers(shape: Any, seed: int, dtype: Any) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


class NumPy:
    """Value, gradients and derivative of a case, as a list of arrays."""

    @staticmethod
    def run(case: Case, args: Any, g: Any, tangents: Any, **which: Any) -> list[Any]:
        options = dict(case.options, **which)
        value = getattr(lapsum, case.name)(*args, **options)
        grads = getattr(lapsum, f"{case.name}_vjp")(*args, g(value.shape), **options)
        along = getattr(lapsum, f"{case.name}_jvp")(*args, *tangents, **options)
        return [value, along, *grads]


class Torch:
    """The same through autograd; there is no derivative along a direction of the same bits."""

    @staticmethod
    def run(case: Case, args: Any, g: Any, tangents: Any, **which: Any) -> list[Any]:
        torch = pytest.importorskip("torch")
        given = [torch.tensor(np.asarray(a), requires_grad=True) for a in args]
        which = {key: torch.tensor(np.asarray(v)) for key, v in which.items()}
        value = getattr(lapsum, case.name)(*given, **dict(case.options), **which)
        grads = torch.autograd.grad(value, given, torch.tensor(g(value.shape)))
        out = value.detach().numpy()
        return [out, out, *(t.numpy() for t in grads)]


@pytest.mark.parametrize("front_end", [NumPy, Torch])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=str)
@settings(deadline=None, max_examples=15)
@given(data=padded())
def test_padding_changes_no_bit(case, dtype, front_end, data):
    x, idx, width, filler = data
    x = x.astype(dtype)
    n = x.size
    values = [numbers((n, case.columns), 1, dtype)] if case.columns else []
    rest = [np.asarray(a, dtype) if case.name == "lap_sum" else a for a in case.rest]
    tangents = [numbers(np.shape(a), 5, dtype) for a in (x, *values, *rest)]

    g: dict[str, Any] = {}

    def narrow(shape: Any) -> Any:
        g["narrow"] = numbers(shape, 7, dtype)
        return g["narrow"]

    def wide(shape: Any) -> Any:
        at = case.where(idx, n, np.empty(shape))
        return g["narrow"] if at is None else embed(g["narrow"], at, shape, NAN)

    want = front_end.run(case, (x, *values, *rest), narrow, tangents)

    def stretch(a: Any, by_element: bool = True) -> Any:
        at = idx if by_element else np.arange(n)
        return embed(a, at, (width, *a.shape[1:]), filler)

    mask = np.zeros(width, bool)
    mask[idx] = True
    long = [stretch(v, not case.transposed) for v in values]
    count = 1 + len(values)
    along = [stretch(t, i == 0 or not case.transposed) for i, t in enumerate(tangents[:count])]
    along += tangents[count:]
    got = front_end.run(case, (stretch(x), *long, *rest), wide, along, mask=mask)
    at = case.where(idx, n, got[0])
    for result, expected, absent in zip(got[:2], want[:2], (case.absent, 0.0), strict=True):
        if front_end is Torch:
            absent = case.absent
        full = expected if at is None else embed(expected, at, result.shape, absent)
        assert bits(result) == bits(full)
    expected = [embed(want[2], idx, width, 0.0)]
    if values:
        where = np.arange(n) if case.transposed else idx
        expected.append(embed(want[3], where, (width, case.columns), 0.0))
    for gradient, e in zip(got[2:], [*expected, *want[2 + len(expected) :]], strict=True):
        assert bits(gradient) == bits(e)
    if (idx == np.arange(n)).all():
        by_length = front_end.run(
            case, (stretch(x), *long, *rest), wide, along, lengths=np.array(n)
        )
        for a, b in zip(by_length, got, strict=True):
            assert bits(a) == bits(b)


def test_rows_of_a_batch_have_lengths_of_their_own():
    x = np.array([[3.0, 1.0, 2.0], [5.0, NAN, NAN]])
    rank = lapsum.soft_rank(x, 1e-3, lengths=[3, 1])
    assert rank.tolist() == [[2.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    p = lapsum.soft_topk(x.T, [1, 2], 1e-3, dim=0, lengths=[3, 1])
    assert p.round(9).tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


def test_a_mask_moves_with_its_axis_and_broadcasts():
    x = np.arange(12.0).reshape(2, 3, 2)
    mask = np.array([True, False, True])[:, None]
    got = lapsum.soft_sort(x, 1e-3, dim=1, mask=mask)
    assert (got[:, :2] == x[:, [0, 2]]).all() and (got[:, 2] == 0).all()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_without_elements(case):
    values = [np.ones((3, 2))] if case.columns else []
    got = getattr(lapsum, case.name)(
        np.full(3, NAN), *values, *case.rest, lengths=0, **dict(case.options)
    )
    if case.elements is not None or case.positions is not None:
        assert (got == case.absent).all()
    elif case.name == "lap_sum":
        assert (got == 0).all()
    else:
        assert np.isnan(got).all()


@pytest.mark.parametrize("case", [c for c in CASES if c.name != "soft_permute"], ids=str)
def test_hard_results_leave_absent_elements_out(case):
    if case.name not in ("soft_rank", "soft_sort", "soft_topk", "soft_permutation"):
        return
    torch = pytest.importorskip("torch")
    x, mask = np.array([3.0, NAN, 1.0, 2.0]), np.array([True, False, True, True])
    call = getattr(lapsum, case.name)
    got = call(x, *case.rest, hard=True, mask=mask)
    alone = call(x[mask], *case.rest, hard=True)
    at = case.where(np.array([0, 2, 3]), 3, got)
    assert bits(got) == bits(embed(alone, at, got.shape, 0.0))
    t = torch.tensor(x, requires_grad=True)
    out = call(t, *case.rest, hard=True, mask=torch.tensor(mask))
    assert bits(out.detach().numpy()) == bits(got)
    out.sum().backward()
    assert torch.isfinite(t.grad).all()


def test_the_complement_counts_present_elements():
    x, mask = np.array([3.0, NAN, 1.0, -INF]), np.array([True, False, True, True])
    logp, rest = lapsum.log_soft_topk(x, 1, 0.5, return_complement=True, mask=mask)
    want = lapsum.log_soft_topk(x[mask], 1, 0.5, return_complement=True)
    assert bits(logp[mask]) == bits(want[0]) and bits(rest[mask]) == bits(want[1])
    torch = pytest.importorskip("torch")
    pair = lapsum.log_soft_topk(
        torch.tensor(x), 1, 0.5, return_complement=True, mask=torch.tensor(mask)
    )
    assert bits(pair[0].numpy()) == bits(logp) and bits(pair[1].numpy()) == bits(rest)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_bad_masks_and_lengths(library):
    array: Callable[[Any], Any] = np.array
    if library == "torch":
        array = pytest.importorskip("torch").tensor
    x = array([1.0, 2.0])
    with pytest.raises(TypeError, match=r"soft_rank: mask and lengths exclude each other"):
        lapsum.soft_rank(x, mask=array([True, True]), lengths=1)
    with pytest.raises(TypeError, match=r"soft_rank: mask must be boolean, got (torch\.)?int64"):
        lapsum.soft_rank(x, mask=array([1, 0]))
    with pytest.raises(ValueError, match=r"soft_rank: mask must broadcast .* \(2,\), got \(3,\)"):
        lapsum.soft_rank(x, mask=array([True, True, True]))
    with pytest.raises(TypeError, match=r"soft_rank: lengths must be an integer"):
        lapsum.soft_rank(x, lengths=array([1.5]))
    with pytest.raises(ValueError, match=r"soft_rank: batch shapes do not broadcast: .*lengths"):
        lapsum.soft_rank(array([[1.0, 2.0], [3.0, 4.0]]), lengths=array([1, 2, 2]))


def torch_cases():
    return [c for c in CASES if c.name != "lap_sum_inverse"]


@pytest.mark.parametrize("case", torch_cases(), ids=str)
def test_masks_in_derivatives_of_any_mode_and_order(case):
    torch = pytest.importorskip("torch")
    mask = torch.tensor([[True, False, True, True, True], [False, True, True, False, False]])
    draw = torch.Generator().manual_seed(3)
    x = torch.randn(2, 5, dtype=torch.float64, generator=draw)
    values = [torch.randn(2, 5, 2, dtype=torch.float64, generator=draw)] if case.columns else []
    rest = [torch.as_tensor(a, dtype=torch.float64) for a in case.rest]
    args = [t.requires_grad_() for t in (x, *values, *rest)]
    mean = torch.isfinite

    def call(*given):
        out = getattr(lapsum, case.name)(*given, mask=mask, **dict(case.options))
        return torch.where(mean(out), out, 0.0)

    with torch.no_grad():
        x[~mask] = NAN
    # Finite differences must not step through NaN: the absent entries are added inside.
    hold = torch.where(mask, x.detach(), 0.0).requires_grad_()

    def function(first, *others):
        return call(torch.where(mask, first, NAN), *others)

    inputs = (hold, *args[1:])
    assert torch.autograd.gradcheck(function, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, inputs)


@pytest.mark.parametrize("case", [c for c in CASES if c.name == "soft_topk"], ids=str)
def test_masks_in_a_compiled_graph(case):
    torch = pytest.importorskip("torch")
    x = torch.randn(3, 8, requires_grad=True)
    mask = torch.rand(3, 8) > 0.3

    def step(x, mask):
        return lapsum.soft_topk(x, 2.0, 0.5, mask=mask).square().sum()

    (plain,) = torch.autograd.grad(step(x, mask), x)
    graph = torch.compile(step, fullgraph=True, backend="aot_eager")
    (compiled,) = torch.autograd.grad(graph(x, mask), x)
    assert torch.equal(plain, compiled)


def test_half_types_with_lengths():
    torch = pytest.importorskip("torch")
    x = torch.randn(3, 6, dtype=torch.bfloat16)
    lengths = torch.tensor([6, 2, 4])
    got = lapsum.soft_topk(x, 1.5, 0.5, lengths=lengths)
    for row, n, p in zip(x, lengths.tolist(), got, strict=True):
        assert torch.equal(p[:n], lapsum.soft_topk(row[:n], 1.5, 0.5)) and (p[n:] == 0).all()
