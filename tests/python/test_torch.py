"""The torch front end: the same numbers as NumPy's, and what torch users expect besides."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from operations import OPERATIONS

import lapsum
from lapsum._torch.backends import backend_for

every = pytest.mark.parametrize("op", OPERATIONS, ids=str)
COMPILED = {"fullgraph": True, "backend": "aot_eager"}


def batch(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> torch.Tensor:
    values = np.random.default_rng(seed).normal(size=shape)
    return torch.tensor(values).to(dtype)


def call(op, x, alpha=0.7, **options):
    """The operation with tensors in place of arrays."""
    args = op.arguments(x.detach().to(torch.float64).numpy(), alpha)
    tensors = [torch.tensor(a).to(x.dtype) if isinstance(a, np.ndarray) else a for a in args[1:]]
    return getattr(lapsum, op.name)(x, *tensors, **options)


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bits_are_those_of_numpy(op, dtype):
    x = batch(3, 9, dtype=dtype)
    y = call(op, x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y.numpy(), op.call(x.numpy()))
    leaf = x.clone().requires_grad_()
    z = call(op, leaf)
    torch.testing.assert_close(z.detach(), y, rtol=0, atol=0)
    z.sum().backward()
    want = op.vjp(x.numpy(), 0.7, np.ones(y.shape, x.numpy().dtype))[0]
    np.testing.assert_array_equal(leaf.grad.numpy(), want)


@every
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_float32_rounded_once(op, dtype):
    x = batch(3, 9, dtype=dtype).requires_grad_()
    y = call(op, x)
    assert y.dtype == dtype
    torch.testing.assert_close(y, call(op, x.float()).to(dtype), rtol=0, atol=0)
    y.sum().backward()
    assert x.grad.dtype == dtype


@every
def test_half_types_are_widened_some_rows_at_a_time(op, monkeypatch):
    from lapsum._torch import kernels

    if kernels.KERNELS[op.name].arrays > 1:
        pytest.skip("several arrays are widened whole")
    x = batch(5, 8, dtype=torch.bfloat16).requires_grad_()
    alpha = torch.linspace(0.5, 1.0, 5, requires_grad=True)
    whole = call(op, x, alpha)
    g = torch.ones_like(whole)
    wanted = torch.autograd.grad(whole, [x, alpha], g)
    monkeypatch.setattr(kernels, "_BLOCK", 16)  # two rows of eight
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        out = call(op, x, alpha)
    assert torch.equal(out, whole)
    assert any(t.dtype == torch.bfloat16 for t in kept)
    assert not any(t.dtype == torch.float32 and t.shape == x.shape for t in kept)
    for got, want in zip(torch.autograd.grad(out, [x, alpha], g), wanted, strict=True):
        assert torch.equal(got, want)


MASKS = (lapsum.soft_topk, lapsum.log_soft_topk)


@pytest.mark.parametrize("mask", MASKS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(3, 50), (4, 2000), (2, 3, 700)], ids=str)
def test_masks_of_half_types_are_those_of_float32_rounded(mask, dtype, shape):
    x = batch(*shape, dtype=dtype)
    g, dx = (batch(*shape, dtype=dtype, seed=seed) for seed in (1, 2))
    k = torch.linspace(0.5, 9, x[..., 0].numel(), dtype=torch.float64).view(shape[:-1])
    alpha = torch.full(shape[:-1], -0.3, dtype=torch.float64)
    padding = batch(*shape, seed=3) > -1
    for numbers, options in (((5, 0.2), {}), ((k, alpha), {}), ((k, alpha), {"mask": padding})):

        def results(*arrays, numbers=numbers, options=options):
            row, given, along = arrays
            leaves = [t.clone().requires_grad_() for t in (row, *numbers) if torch.is_tensor(t)]
            rest = leaves[1:] or numbers
            y = mask(leaves[0], *rest, **options)
            pushed = torch.func.jvp(lambda t: mask(t, *numbers, **options), (row,), (along,))[1]
            return [y, pushed, *torch.autograd.grad(y, leaves, given)]

        wanted = results(x.float(), g.float(), dx.float())
        for got, want in zip(results(x, g, dx), wanted, strict=True):
            assert torch.equal(got, want.to(got.dtype))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_masks_of_half_types_make_no_wide_copy(dtype):
    code = f"""
import pathlib, torch, lapsum

def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])

def step(n):
    x = torch.empty(1, n, dtype=torch.{dtype}).normal_().requires_grad_()
    g = torch.ones_like(x)
    before = peak()
    y = lapsum.soft_topk(x, 64, 0.5)
    forward = peak()
    gx = torch.autograd.grad(y, x, g)
    return (forward - before) / n, (peak() - before) / n

step(1000)  # loads what there is to load
print(*step(4_000_000))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    forward, both = map(float, run.stdout.split())
    # A result has 2 bytes per element, and so have the values that a search keeps; a float has 4.
    assert 1.5 < forward < 2 + 2.5
    assert both < 2 * 2 + 2.5


def test_a_long_bfloat16_row_at_a_tiny_alpha_is_finite():
    x = batch(2, 65536, dtype=torch.bfloat16).relu_().requires_grad_()
    k = torch.tensor([64.0, 100.5], requires_grad=True)
    p = lapsum.soft_topk(x, k, 1e-4)
    assert p.isfinite().all()
    (p.float() * batch(2, 65536, dtype=torch.float32, seed=1)).sum().backward()
    assert x.grad.isfinite().all()
    assert k.grad.isfinite().all()


def test_autocast():
    x = batch(3, 9, dtype=torch.float32).requires_grad_()
    weight = batch(9, 9, dtype=torch.float32, seed=1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        p = lapsum.soft_topk(x @ weight, 3, 0.5)
    assert p.dtype == torch.bfloat16
    p.sum().backward()
    assert x.grad.isfinite().all()


@every
def test_any_strides_and_batches(op):
    wide = batch(4, 6, 20)
    for view in (wide[:, ::2, ::3], wide.transpose(0, 1), wide[0].T, wide[0, 0], wide[:, :, 3:4]):
        torch.testing.assert_close(call(op, view), call(op, view.contiguous()), rtol=0, atol=0)
    repeated = wide[0, :1].expand(3, 20)
    torch.testing.assert_close(call(op, repeated), call(op, repeated.clone()), rtol=0, atol=0)


@every
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)])
def test_an_empty_batch(op, shape):
    x = torch.empty(*shape, 5, dtype=torch.float64, requires_grad=True)
    y = call(op, x)
    assert y.shape[: len(shape)] == shape
    (gx,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert gx.shape == x.shape


@pytest.mark.parametrize("op", [op for op in OPERATIONS if op.takes_dim], ids=str)
def test_dim(op):
    x = batch(4, 5, 6)
    for dim in (0, 1, -1):
        rest = op.arguments(x.movedim(dim, -1).numpy(), 0.7)[1:]
        moved = getattr(lapsum, op.name)(x.movedim(dim, -1), *rest)
        want = moved.movedim(-1, dim) if moved.ndim == x.ndim else moved
        for where in ({"dim": dim}, {"axis": dim}):
            got = getattr(lapsum, op.name)(x, *rest, **where)
            torch.testing.assert_close(got, want, rtol=0, atol=0)


def test_k_and_alpha_broadcast_with_the_batch():
    x = batch(3, 1, 7).requires_grad_()
    k = torch.tensor([1.0, 2.5, 4.0], dtype=torch.float64, requires_grad=True)
    alpha = torch.tensor([[0.5], [1.0], [2.0]], requires_grad=True)
    p = lapsum.soft_topk(x, k, alpha)
    assert p.shape == (3, 3, 7)
    torch.testing.assert_close(p.sum(-1), k.expand(3, 3))
    p.sin().sum().backward()
    assert x.grad.shape == x.shape
    assert k.grad.shape == k.shape
    assert alpha.grad.shape == alpha.shape
    assert alpha.grad.dtype == torch.float32
    integers = lapsum.soft_topk(x, torch.tensor([1, 2, 3]), 0.5)
    torch.testing.assert_close(integers, lapsum.soft_topk(x, [1, 2, 3], 0.5), rtol=0, atol=0)


LEVELS = torch.tensor([0.1, 0.5, 0.3, 0.8, 0.5], dtype=torch.float64)


@pytest.mark.parametrize("name", ["soft_topk", "log_soft_topk", "soft_kth_value", "soft_quantile"])
@pytest.mark.parametrize(
    ("x", "level", "alpha"),
    [
        (batch(3, 1, 7), LEVELS, 0.7),
        (batch(7), LEVELS, 0.7),
        (batch(7), LEVELS.expand(2, 5), torch.tensor(0.7)),
        (batch(3, 1, 7), LEVELS.expand(3, 5), torch.tensor([[0.7], [0.3], [-2.0]])),
        (batch(3, 1, 1, 7), LEVELS.expand(2, 5), torch.tensor([[[0.7]], [[0.3]], [[1.5]]])),
        (batch(1, 7), LEVELS[:, None, None], torch.tensor([0.7, 0.3, 1.5])),
        (
            batch(3, 1, 7),
            LEVELS,
            torch.full((5,), 0.7),
        ),  # varies along the levels: rows of their own
        (batch(0, 1, 7), LEVELS, 0.7),
    ],
)
def test_several_levels_of_a_row_are_rows_of_their_own(name, x, level, alpha):
    k = level if name == "soft_quantile" else 7 * level
    shape = torch.broadcast_shapes(x.shape[:-1], k.shape, torch.as_tensor(alpha).shape)
    shared = [t.clone().requires_grad_() for t in (x, k, torch.as_tensor(alpha))]
    copied = [t.clone().requires_grad_() for t in shared]
    y = getattr(lapsum, name)(*shared)
    whole = [copied[0].expand(*shape, 7), *(t.expand(shape) for t in copied[1:])]
    want = getattr(lapsum, name)(*(t.clone() for t in whole))
    torch.testing.assert_close(y, want, rtol=0, atol=0)
    got = torch.autograd.grad(y.sin().sum(), shared)
    for g, w in zip(got, torch.autograd.grad(want.sin().sum(), copied), strict=True):
        torch.testing.assert_close(g, w)


@every
def test_no_grad_and_inference_mode(op):
    x = batch(3, 9).requires_grad_()
    with torch.no_grad():
        assert not call(op, x).requires_grad
    with torch.inference_mode():
        y = call(op, x)
    torch.testing.assert_close(y.clone(), call(op, x).detach(), rtol=0, atol=0)


@every
def test_nan_and_infinite_rows(op):
    x = batch(4, 9)
    clean = call(op, x)
    x[1, 3] = torch.nan
    x[2, 0], x[2, 5] = -torch.inf, torch.inf
    leaf = x.clone().requires_grad_()
    y = call(op, leaf)
    assert y[1].isnan().all()
    torch.testing.assert_close(y[[0, 3]].detach(), clean[[0, 3]], rtol=0, atol=0)
    y[[0, 2, 3]].nan_to_num(0, 0, 0).sum().backward()
    assert leaf.grad[[0, 2, 3]].isfinite().all()
    assert (leaf.grad[2, [0, 5]] == 0).all()


def test_masks_and_saturation():
    x = torch.tensor([0.5, -torch.inf, 1.5, 3.0], dtype=torch.float64, requires_grad=True)
    assert lapsum.soft_topk(x, torch.tensor(torch.nan), 0.5).isnan().all()
    p = lapsum.soft_topk(x, torch.tensor([-1.0, 0.0, 2.0, 4.0]), 0.5)
    assert (p[:2] == 0).all()
    assert (p[:4, 1] == 0).all()
    assert (p[3, [0, 2, 3]] == 1).all()
    p.sum().backward()
    assert x.grad.isfinite().all()
    assert x.grad[1] == 0


@pytest.mark.parametrize("transform", [lambda f: f, torch.func.jacrev, torch.func.jacfwd])
def test_edges_inside_transforms(transform):
    x = torch.tensor([0.5, -torch.inf, 1.5, 3.0, torch.inf], dtype=torch.float64)
    for name, args in {
        "soft_topk": (2.5, 0.5),
        "log_soft_topk": (2.5, 0.5),
        "soft_rank": (0.5,),
        "soft_permutation": (0.5,),
    }.items():
        function = transform(lambda t, name=name, args=args: getattr(lapsum, name)(t, *args))
        got = function(x)
        assert not got.isnan().any(), name
        if got.shape != x.shape and name != "soft_permutation":
            assert (got[..., [1, 4]] == 0).all(), name
    values = torch.arange(5.0, dtype=torch.float64)
    for transpose in (False, True):
        want = lapsum.soft_permute(x, values, 0.5, transpose=transpose)
        got = torch.vmap(lambda t, tr=transpose: lapsum.soft_permute(t, values, 0.5, transpose=tr))
        torch.testing.assert_close(got(x[None])[0], want)
    matrix = torch.vmap(lambda t: lapsum.soft_permutation(t, 0.5))(x[None])[0]
    torch.testing.assert_close(matrix, lapsum.soft_permutation(x, 0.5))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((7, 0.5), r"soft_topk: k must be in \[0, n\], got k=7 with n=5"),
        ((float("nan"), 0.5), r"soft_topk: k must be in \[0, n\], got k=nan with n=5"),
        ((2, 0.0), "soft_topk: alpha must be finite and not 0, got alpha=0"),
        ((2, float("inf")), "soft_topk: alpha must be finite and not 0, got alpha=inf"),
    ],
)
def test_numbers_out_of_their_domain_raise_as_in_numpy(arguments, message):
    with pytest.raises(ValueError, match=message):
        lapsum.soft_topk(torch.zeros(5), *arguments)
    with pytest.raises(ValueError, match=message):
        lapsum.soft_topk(np.zeros(5), *arguments)


@every
def test_bad_arguments(op):
    x = batch(3, 5)
    with pytest.raises(TypeError, match=f"{op.name}: .* must be float16, bfloat16"):
        call(op, x.to(torch.int64))
    with pytest.raises(ValueError, match=f"{op.name}: . must have at least one dimension"):
        getattr(lapsum, op.name)(torch.tensor(1.0), *op.arguments(np.ones(3), 0.7)[1:])
    for bad in ("soft", None, True):
        with pytest.raises(TypeError, match=f"{op.name}: alpha must be a real number"):
            call(op, x, bad)
    with pytest.raises(TypeError, match=f"{op.name}_vjp: is for NumPy arrays"):
        getattr(lapsum, f"{op.name}_vjp")(x, *op.arguments(x.numpy(), 0.7)[1:], x)


@pytest.mark.parametrize("array", [torch.zeros(5), np.zeros(5)])
def test_integers_beyond_all_floats(array):
    with pytest.raises(ValueError, match=r"soft_topk: k must be in \[0, n\], got k=inf with n=5"):
        lapsum.soft_topk(array, 10**400)
    with pytest.raises(
        ValueError, match="soft_rank: alpha must be finite and not 0, got alpha=-inf"
    ):
        lapsum.soft_rank(array, -(10**400))


@every
def test_tensors_that_are_stored_with_the_other_sign(op):
    x = torch.complex(batch(3, 9), batch(3, 9, seed=1)).conj()
    for view in (x.imag, torch._neg_view(batch(3, 9))):
        assert view.is_neg()
        leaf = view.resolve_neg().clone().requires_grad_()
        y = call_traced(op, leaf)
        torch.testing.assert_close(call_traced(op, view), y.detach(), rtol=0, atol=0)
        g = torch._neg_view(torch.ones_like(y))
        (got,) = torch.autograd.grad(y, leaf, g, retain_graph=True)
        (want,) = torch.autograd.grad(y, leaf, -torch.ones_like(y))
        torch.testing.assert_close(got, want, rtol=0, atol=0)


@every
def test_a_default_device_is_not_that_of_the_result(op):
    x = batch(3, 9).requires_grad_()
    want = torch.autograd.grad(call(op, x).sin().sum(), x)[0]
    with torch.device("cpu"):
        arguments = [torch.as_tensor(a) for a in op.arguments(x.detach().numpy(), 0.7)[1:]]
    with torch.device("meta"):
        y = getattr(lapsum, op.name)(x, *arguments)
        plain = call_traced(op, x)
        (got,) = torch.autograd.grad(y.sin().sum(), x)
    assert y.is_cpu
    assert plain.is_cpu
    torch.testing.assert_close(got, want)


def test_tensors_that_outlived_their_transform():
    escaped = []

    def total(t):
        escaped.append(t)
        return t.sum()

    x = batch(9)
    torch.func.grad(total)(x)
    torch.testing.assert_close(lapsum.soft_rank(escaped[0]), lapsum.soft_rank(x), rtol=0, atol=0)


def test_batches_that_do_not_broadcast():
    with pytest.raises(ValueError, match=r"soft_topk: batch shapes do not broadcast: .*k \(2,\)"):
        lapsum.soft_topk(batch(3, 5), torch.ones(2), 0.5)
    with pytest.raises(IndexError, match=r"soft_rank: dim must be in \[-2, 1\], got dim=2"):
        lapsum.soft_rank(batch(3, 5), dim=2)


@every
def test_meta_tensors_give_shapes(op):
    want = call(op, batch(3, 5))
    args = op.arguments(np.ones((3, 5)), 0.7)
    tensors = [torch.tensor(a, device="meta") if isinstance(a, np.ndarray) else a for a in args]
    got = getattr(lapsum, op.name)(*tensors)
    assert got.is_meta
    assert got.shape == want.shape


@every
@pytest.mark.parametrize("dynamic", [False, True])
def test_compile_without_graph_breaks(op, dynamic):
    torch._dynamo.reset()
    compiled = torch.compile(lambda t: call_traced(op, t).sin(), dynamic=dynamic, **COMPILED)
    for shape in ((3, 8), (5, 8)):
        x = batch(*shape).requires_grad_()
        y = compiled(x)
        want = call_traced(op, x).sin()
        torch.testing.assert_close(y, want)
        got_grad = torch.autograd.grad(y.sum(), x)[0]
        torch.testing.assert_close(got_grad, torch.autograd.grad(want.sum(), x)[0])


def call_traced(op, x):
    """As `call`, made of what a graph can hold."""
    function, n = getattr(lapsum, op.name), x.shape[-1]
    if op.name in ("soft_topk", "log_soft_topk", "soft_kth_value"):
        return function(x, 0.4375 * n, 0.7)  # exact in every dtype, for sizes may be traced
    if op.name == "soft_quantile":
        return function(x, 0.3, 0.7)
    if op.name == "soft_permute":
        return function(x, x.cos(), 0.7)
    if op.name == "lap_sum":
        return function(x, x[..., :3].cos(), 0.7)
    if op.name == "lap_sum_inverse":
        return function(x, (x[..., :3].clamp(-3, 3) + 4) * (n / 8), 0.7)  # exact, however x lies
    return function(x, 0.7)


def test_other_numbers_do_not_compile_again():
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(lapsum.soft_topk, fullgraph=True, backend=counter)
    x = batch(3, 8)
    for k in (1.5, 2.5, 3.0, 4.25):
        torch.testing.assert_close(compiled(x, k, k / 10), lapsum.soft_topk(x, k, k / 10))
    assert counter.frame_count <= 2  # the first number, then any number
    tensors = CompileCounter()
    compiled = torch.compile(lapsum.soft_topk, fullgraph=True, backend=tensors)
    for k in (1.5, 2.5, 3.0):
        compiled(x, torch.full((3,), k), torch.full((3,), k / 10))
    assert tensors.frame_count == 1


@every
def test_export(op):
    class Module(torch.nn.Module):
        def forward(self, x):
            return call_traced(op, x)

    x = batch(3, 8)
    program = torch.export.export(Module(), (x,))
    torch.testing.assert_close(program.module()(x), call_traced(op, x), rtol=0, atol=0)


@every
@pytest.mark.filterwarnings("ignore:.*torch.jit.*", "ignore:Converting a tensor")
def test_a_trace_holds_the_operation(op):
    traced = torch.jit.trace(lambda t: call_traced(op, t), (batch(3, 8),), check_trace=False)
    x = batch(3, 8, seed=1)
    torch.testing.assert_close(traced(x), call_traced(op, x), rtol=0, atol=0)


def test_opcheck():
    x, k, alpha = batch(3, 8), torch.full((3,), 2.5).double(), torch.full((3,), 0.5).double()
    for name, args, flags in (
        ("soft_topk", [x, k, alpha], "1"),
        ("soft_rank", [x, alpha], "0"),
        ("soft_sort", [x, alpha], "1"),
        ("soft_permute", [x, batch(3, 8, 2), alpha], "01"),
        ("lap_sum_inverse", [x, k, alpha], ""),
    ):
        leaves = [t.clone().requires_grad_() for t in args]
        for argsort in {False, backend_for(x.device).KERNELS[name].keeps_argsort(x)}:
            call = (name, leaves, flags, 1, argsort)
            torch.library.opcheck(torch.ops.lapsum.value.default, call)


def test_threads_of_torch_and_of_python():
    x = batch(64, 1000, dtype=torch.float32)
    want = lapsum.soft_rank(x, 0.5)
    before = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            torch.testing.assert_close(lapsum.soft_rank(x, 0.5), want, rtol=0, atol=0)
    finally:
        torch.set_num_threads(before)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: lapsum.soft_rank(x, 0.5), range(8)):
            torch.testing.assert_close(got, want, rtol=0, atol=0)


class Ranks(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return lapsum.soft_rank(batch(4, 3000, seed=i), 0.5)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_workers_of_a_data_loader():
    want = [Ranks()[i] for i in range(8)]
    loader = torch.utils.data.DataLoader(Ranks(), batch_size=None, num_workers=2, timeout=60)
    for got, expected in zip(loader, want, strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=0)


def test_what_top_k_saves_for_backward():
    x = batch(4, 1000, dtype=torch.float32).requires_grad_()
    sizes = []

    def pack(t):
        sizes.append(t.numel() * t.element_size())
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        p = lapsum.soft_topk(x, 10, 0.5)
        saved = p.grad_fn.thresholds
    assert sizes == [x.numel() * 4]  # x itself
    assert sum(map(len, saved)) == 4 * 16  # and a threshold of 16 bytes per row
    sizes.clear()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        p = lapsum.soft_topk(x[:, None], [1.0, 2.0, 5.0], 0.5)
    assert sizes == [x.numel() * 4, 4 * 3 * 8]  # x once for all levels, and the levels
    assert p.grad_fn.thresholds.nbytes == 4 * 3 * 16
