"""The order that soft_rank and soft_sort keep for their backward pass, which then does not sort."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

import lapsum
from lapsum import _core
from lapsum._torch import kernels

OPERATIONS = (lapsum.soft_rank, lapsum.soft_sort)
LONG = _core.argsort_from_float32  # shorter rows of float are sorted again
VJPS = {lapsum.soft_rank: lapsum.soft_rank_vjp, lapsum.soft_sort: lapsum.soft_sort_vjp}
every = pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.__name__)


def batch(rows, n, dtype=torch.float32, seed=0):
    """Normal numbers; ties in the second row, infinities and zeros in the third, then NaN."""
    x = np.random.default_rng(seed).normal(size=(rows, n))
    x[1:2] = np.round(2 * x[1:2]) / 2
    x[2:3, :6] = [np.inf, -0.0, -np.inf, 0.0, np.inf, -0.0]
    x[3:4, n // 2] = np.nan
    return torch.tensor(x).to(dtype)


def saved(function):
    """The dtypes and shapes of what a call saves for its backward pass."""
    seen = []
    with saved_tensors_hooks(lambda t: (seen.append((t.dtype, tuple(t.shape))), t)[1], lambda t: t):
        function()
    return seen


def ways(op, x, alpha=0.3, **options):
    """The same call on the short way, and on the way of calls with something to arrange."""
    yield op(x, alpha, **options)
    yield op(x, torch.full(x.shape[:-1], alpha, dtype=torch.float64), **options)


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n", [LONG - 1, LONG, 3000])
@pytest.mark.parametrize("descending", [False, True])
def test_gradients_have_the_bits_of_numpy_which_sorts_again(op, dtype, n, descending):
    x, g = batch(5, n, dtype), batch(1, n, dtype, seed=1).expand(5, n)
    want = VJPS[op](x.numpy(), 0.3, g.contiguous().numpy(), descending=descending)[0]
    leaf = x.clone().requires_grad_()
    for y in ways(op, leaf, descending=descending):
        np.testing.assert_array_equal(torch.autograd.grad(y, leaf, g)[0].numpy(), want)


@every
def test_what_is_kept(op):
    """4 bytes for an element of a long row, where a gradient is recorded, and nothing else."""
    for dtype, n, kept in (
        (torch.float32, LONG - 1, False),
        (torch.float32, LONG, True),
        (torch.float64, 8, True),
        (torch.float16, LONG - 1, False),
        (torch.bfloat16, LONG, True),
    ):
        leaf = batch(4, n, dtype).requires_grad_()
        order = [(torch.int32, (4, n))] if kept else []
        alphas = [(torch.float64, (4,))]
        assert saved(lambda leaf=leaf: op(leaf, 0.3)) == [(dtype, (4, n)), *order]
        alpha = torch.full((4,), 0.3).double()
        got = saved(lambda leaf=leaf, alpha=alpha: op(leaf, alpha))
        assert got == [(dtype, (4, n)), *alphas, *order]
        assert saved(lambda leaf=leaf: op(leaf.detach(), 0.3)) == []
        with torch.no_grad():
            assert saved(lambda leaf=leaf: op(leaf, 0.3)) == []


@every
def test_the_order_is_the_argsort(op):
    kernel = kernels.KERNELS[op.__name__]
    x = batch(3, LONG + 100)
    for descending in (False, True):
        _, order = kernel.value([x, 0.3], [descending], 1, keep=True)
        want = torch.sort(x, dim=-1, descending=descending, stable=True).indices
        torch.testing.assert_close(order.long(), want, rtol=0, atol=0)
        assert kernel.value([x, 0.3], [descending], 1)[1] is None


@every
def test_a_backward_pass_reads_the_order(op):
    """One of another row is noticed, and only where it is read."""

    def reversed_order(t):
        return t.flip(-1).contiguous() if t.dtype == torch.int32 else t

    leaf = batch(2, LONG + 100).requires_grad_()
    with saved_tensors_hooks(lambda t: t, reversed_order):
        for y in ways(op, leaf):
            with pytest.raises(ValueError, match=rf"{op.__name__}_vjp: argsort must be that of x"):
                y.sum().backward()
        short = op(leaf[:, : LONG - 1], 0.3)
    short.sum().backward()
    assert torch.isfinite(leaf.grad).all()


@every
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_in_blocks_of_rows(op, dtype, monkeypatch):
    n = LONG + 50
    leaf = batch(7, n, dtype).requires_grad_()
    wide = leaf.detach().float().requires_grad_()
    g = batch(1, n, dtype, seed=1).expand(7, n)
    want = torch.autograd.grad(op(wide, 0.3), wide, g.float())[0].to(dtype)
    monkeypatch.setattr(kernels, "_BLOCK", 2 * n)
    got = torch.autograd.grad(op(leaf, 0.3), leaf, g)[0]
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


@every
def test_rows_of_different_lengths(op):
    width = LONG + 100
    lengths = [width, LONG - 1, LONG, 0, 1, LONG + 50]
    x = batch(6, width, torch.float32)
    leaf = x.clone().requires_grad_()
    g = batch(6, width, seed=2).nan_to_num()
    alpha = torch.linspace(-0.3, 0.4, 6, dtype=torch.float64).requires_grad_()
    y = op(leaf, alpha, lengths=torch.tensor(lengths))
    got, got_alpha = torch.autograd.grad(y, (leaf, alpha), g)
    for i, n in enumerate(lengths):
        args = x[i, :n].numpy(), float(alpha[i].detach()), g[i, :n].numpy()
        want, want_alpha = VJPS[op](*args) if n else (np.zeros(0), 0.0)
        np.testing.assert_array_equal(got[i, :n].numpy(), want)
        np.testing.assert_array_equal(float(got_alpha[i]), want_alpha)
        assert not got[i, n:].any()


@every
def test_every_way_to_a_gradient(op):
    """Hooks, recomputed activations, graphs, transforms and second derivatives agree."""
    n = LONG + 50
    x, g = batch(3, n), batch(3, n, seed=1).nan_to_num(posinf=1, neginf=-1)
    leaf = x.clone().requires_grad_()

    def soft(t):
        return op(t, 0.3)

    def gradient(y, **options):
        return torch.autograd.grad(y, leaf, g, **options)[0]

    want = gradient(soft(leaf))
    with save_on_cpu():
        y = soft(leaf)
    found = [gradient(y), gradient(soft(leaf), create_graph=True).detach()]
    found.append(gradient(checkpoint(soft, leaf, use_reentrant=False)))
    torch._dynamo.reset()
    for dynamic in (False, True):
        graph = torch.compile(soft, fullgraph=True, backend="aot_eager", dynamic=dynamic)
        found.append(gradient(graph(leaf)))
    found.append(torch.func.vjp(soft, x)[1](g)[0])
    found.append(torch.func.vmap(lambda t, u: torch.func.vjp(soft, t)[1](u)[0])(x, g))
    for got in found:
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


@every
def test_a_graph_that_is_trained_keeps_the_order(op):
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.tensor(1.0))

        def forward(self, x):
            return op(self.scale * x, 0.3)

    def asked(n, **options):
        program = torch.export.export(Module(), (batch(2, n),), **options)
        (node,) = [n for n in program.graph.nodes if n.target == torch.ops.lapsum.value.default]
        return node.args[-1]

    assert asked(LONG)
    assert not asked(LONG - 1)
    with torch.no_grad():
        assert not asked(LONG)
    length = torch.export.Dim("length", min=2, max=4096)
    assert not asked(LONG, dynamic_shapes={"x": {1: length}})  # it may be short as well
