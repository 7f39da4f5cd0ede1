"""The operations in plain torch, which serve devices without kernels: here they serve the CPU.

Values and derivatives go through the table of tolerances, as those of the core do; what else the
front end promises is tested by its own tests, collected again in this file.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from operations import OPERATIONS
from rows import FAMILIES, row
from test_accuracy import ARGUMENTS, LONG, Case, cases
from test_torch import (  # noqa: F401
    batch,
    call,
    test_an_empty_batch,
    test_any_strides_and_batches,
    test_autocast,
    test_dim,
    test_edges_inside_transforms,
    test_half_precision_is_float32_rounded_once,
    test_k_and_alpha_broadcast_with_the_batch,
    test_masks_and_saturation,
    test_meta_tensors_give_shapes,
    test_nan_and_infinite_rows,
    test_no_grad_and_inference_mode,
    test_opcheck,
    test_several_levels_of_a_row_are_rows_of_their_own,
)
from test_torch_derivatives import (  # noqa: F401
    CASES,
    leaves,
    test_a_batch_of_incoming_gradients,
    test_gradcheck_in_both_modes,
    test_vmap_is_a_batch,
)
from tolerances import assert_within
from torch.autograd import forward_ad, gradgradcheck
from torch.utils._python_dispatch import TorchDispatchMode

import lapsum
from lapsum import reference
from lapsum._torch import backends, kernels, portable, precision

every = pytest.mark.parametrize("op", OPERATIONS, ids=str)
SIZES_AND_ALPHAS = ((1, 1.0), (5, 1e2), (17, 1e-4), (64, 1e-2))


@pytest.fixture(autouse=True)
def _on_the_cpu():
    """One thread: many small steps on a busy machine would wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with backends.serving("cpu", portable):
        yield
    torch.set_num_threads(threads)


class TorchCase(Case):
    """A case of the table, by tensors and by autograd."""

    def call(self, suffix="", *extra):
        tensors = [torch.tensor(np.asarray(a)) for a in self.args]
        if suffix == "_vjp":
            tensors = [t.requires_grad_() for t in tensors]
            grads = torch.autograd.grad(self.function(*tensors), tensors, torch.tensor(extra[0]))
            return [g.numpy() for g in grads]
        if suffix == "_jvp":
            with forward_ad.dual_level():
                pairs = zip(tensors, extra, strict=True)
                duals = [
                    t if e is None else forward_ad.make_dual(t, torch.as_tensor(e, dtype=t.dtype))
                    for t, e in pairs
                ]
                return forward_ad.unpack_dual(self.function(*duals)).tangent.numpy()
        return self.function(*tensors).numpy()

    def function(self, *args):
        return getattr(lapsum, self.op)(*args, **self.flags)


def torch_cases(*args):
    return [TorchCase(case.op, case.args, case.label, **case.flags) for case in cases(*args)]


# --- the table of tolerances ---------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", ARGUMENTS)
def test_values_and_derivatives(op, dtype, family):
    for n, alpha in SIZES_AND_ALPHAS:
        for case in torch_cases(op, row(family, n, dtype), alpha, family):
            case.check_value()
            case.check_vjp()
            if dtype == "float64":  # the wide result, before it is rounded
                case.check_jvp()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("shape", "order"), [("cdf", 0)] + [(s, p) for s in ("even", "odd") for p in range(4)]
)
def test_lap_kernel(shape, order, family):
    for n in (1, 3, 64, 257):
        x, rng = row(family, n), np.random.default_rng(n)
        w = rng.normal(size=n)
        points = np.concatenate((x[:4], rng.normal(size=4), [np.inf, -np.inf]))
        for alpha in (1e-2, 1.0, -1e2):
            args = [torch.tensor(a, dtype=torch.float64) for a in (x, w, points, alpha)]
            got = portable.kernel_sum(*args, shape, order)
            want = reference.lap_kernel(x, w, points, alpha, shape, order)
            case = f"[{family} {n=} {alpha=} {shape}{order}]"
            assert_within("lap_kernel", "float64", "value", got, want, case=case, w=w)


@pytest.mark.parametrize(("family", "n", "alpha"), [f for f in LONG if f[1] != 1000])
def test_long_rows(family, n, alpha):
    x = row(family, n)
    g = np.random.default_rng(n).normal(size=n)
    at = np.unique(np.linspace(0, n - 1, 4).astype(int))
    t, gradient = torch.tensor(x, requires_grad=True), torch.tensor(g)
    k = n / 50 + 0.3

    case = TorchCase("soft_topk", (x, k, alpha), family, largest=True)
    z, q, s, *_ = case.root
    p = lapsum.soft_topk(t, k, alpha)
    (gx,) = torch.autograd.grad(p, t, gradient)
    case.assert_within("value", p.detach(), reference.cdf(z))
    case.assert_within("grad_x", gx, s * g - q * (s @ g), g=g)

    rank = lapsum.soft_rank(t, alpha)
    (gx,) = torch.autograd.grad(rank, t, gradient)
    want = reference.lap_sum(x, x[at], alpha) - np.longdouble(0.5)
    assert_within("soft_rank", "float64", "value", rank.detach()[at], want, n=n)
    near, moved = (reference.lap_kernel(x, w, x[at], alpha) for w in (np.ones(n), g))
    want = (g[at] * near - moved) / (2 * np.longdouble(alpha))
    assert_within("soft_rank", "float64", "grad_x", gx[at], want, D=near, g=g, alpha=alpha)

    few = np.zeros(n)
    few[at] = [1, -2, 0.5, 3]
    roots = [reference.threshold(x, level + 0.5, alpha) for level in at]
    b = lapsum.soft_sort(t, alpha)
    (gx,) = torch.autograd.grad(b, t, torch.tensor(few))
    want = np.array([root.b for root in roots])
    assert_within("soft_sort", "float64", "value", b.detach()[at], want, x=x, alpha=alpha)
    want = few[at] @ np.array([root.q for root in roots])
    assert_within("soft_sort", "float64", "grad_x", gx, want, g=few)

    out = lapsum.soft_permute(t.detach(), gradient, alpha)
    for i in (0, n // 3):
        lower, upper = (reference.threshold(x, level, alpha).z for level in (i, i + 1))
        want = reference.cdf_difference(lower, upper) @ g
        assert_within("soft_permute", "float64", "value", out[i], want, n=n, v=g)


# --- the contract --------------------------------------------------------------------------------

FLAGS = {"soft_permute": (False, True), "lap_sum": (), "lap_sum_inverse": (), "soft_quantile": ()}


def flags_of(kernel):
    return FLAGS.get(kernel.operation, (True,))


def corner_rows(rows, n, seed):
    """Rows with ties, infinities and NaN, and alphas of which some are out of their domain."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, n)), 1)
    special = rng.random((rows, n)) < 0.3
    values = [0.0, np.inf, -np.inf, np.nan]
    x[special] = rng.choice(values, special.sum(), p=[0.3, 0.33, 0.33, 0.04])
    alpha = rng.choice([0.5, -0.3, 1e-3, 30.0, 0.0, np.nan, np.inf], rows)
    return torch.tensor(x), torch.tensor(alpha), rng


def arguments_of(kernel, x, alpha, rng):
    """With weights no infinities: how those at -inf share a level has no slope in weights here."""
    rows, n = x.shape
    x = torch.where(x.isinf(), 0.3, x) if kernel.weighted else x
    levels = rng.choice([0.0, 1.0, n / 2, n - 0.3, 0.2, n, n + 1.0, -1.0, np.nan], (rows, 3))
    levels = torch.tensor(levels / n if kernel.operation == "soft_quantile" else levels)
    other = torch.tensor(rng.normal(size=(rows, n, 2)))
    extra = {"soft_permute": [other], "lap_sum": [x[:, :3].flip(0)]}.get(kernel.name, [])
    if kernel.weighted:
        extra = [torch.tensor(rng.choice([0.5, 1.0, 3.0], (rows, n)))]
    return [x, *extra, *([levels] if kernel.levels else []), alpha]


def assert_same(got, want, rows):
    """Equal where not finite, else close; slopes that outgrow the type are cut somewhere."""
    got, want = (t[rows].clamp(-1e250, 1e250) for t in (got, want))
    torch.testing.assert_close(got, want, rtol=1e-8, atol=1e-8, equal_nan=True)


def compare_with_the_core(kernel, n, seed, whole=True):
    """All that a kernel gives, on rows with corners; not rows without a finite element, if so."""
    core, flags = kernels.KERNELS[kernel.name], flags_of(kernel)
    x, alpha, rng = corner_rows(6, n, seed)
    args = arguments_of(core, x, alpha, rng)
    some = slice(None) if whole else x.isfinite().any(-1)
    want, saved = core.value(args, flags, 1, keep=True)
    got, thresholds = kernel.value(args, flags, 1, keep=True)
    assert_same(got, want, some)
    g = torch.tensor(rng.normal(size=want.shape))
    needs = [True] * len(args)
    gradients = core.vjp(args, flags, 1, saved, g, needs)
    for a, b in zip(kernel.vjp(args, flags, 1, thresholds, g, needs), gradients, strict=True):
        assert_same(a, b, some)
    tangents = [torch.tensor(rng.normal(size=a.shape)) for a in args]
    assert_same(*(k.jvp(args, flags, 1, tangents) for k in (kernel, core)), some)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
@pytest.mark.parametrize("kernel", portable.KERNELS.values(), ids=portable.KERNELS)
def test_corners_are_those_of_the_core(kernel, n):
    for seed in range(12):
        compare_with_the_core(kernel, n, seed, whole=False)


@pytest.mark.parametrize("x", [[-np.inf], [np.inf], [np.inf, np.inf], [-np.inf, np.inf]])
@pytest.mark.parametrize("alpha", [0.5, -0.5])
def test_rows_of_infinities(x, alpha):
    t, levels = torch.tensor(x, dtype=torch.float64), [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0]
    masks = [reference.soft_topk(x, k, alpha) for k in levels]
    for got, want in (
        (lapsum.soft_topk(t, levels, alpha), masks),
        (lapsum.lap_sum_inverse(t, levels, alpha), reference.lap_sum_inverse(x, levels, alpha)),
        (lapsum.soft_rank(t, alpha), reference.soft_rank(x, alpha)),
        (lapsum.soft_sort(t, alpha), reference.soft_sort(x, alpha)),
        (lapsum.soft_permutation(t, alpha), reference.soft_permutation(x, alpha)),
    ):
        np.testing.assert_array_equal(got.numpy(), np.asarray(want, np.float64))


@every
@pytest.mark.parametrize("alpha", [1e-300, 5e-324, 1e300])
def test_extreme_alpha_gives_numbers(op, alpha):
    x = torch.tensor([0.0, 1.0, 1.0, -3.0, 1e308, -1e308], dtype=torch.float64, requires_grad=True)
    y = call(op, x, alpha)
    assert not y.isnan().any()
    assert not torch.autograd.grad(y.sum(), x)[0].isnan().any()


@pytest.mark.parametrize("op", [op for op in OPERATIONS if "inverse" not in op.name], ids=str)
def test_rows_without_elements(op):
    x = torch.empty(2, 0, dtype=torch.float64, requires_grad=True)
    y = call(op, x)
    if op.name in ("soft_quantile", "soft_kth_value"):
        assert y.isnan().all()
    else:
        assert y.shape[0] == 2
        assert not y.any()
    assert torch.autograd.grad(y.sum(), x)[0].shape == x.shape


@every
def test_inputs_are_never_written_to(op):
    x = batch(3, 8)
    x[0, 0] = torch.inf
    kept = x.clone()
    leaf = x.requires_grad_()
    call(op, leaf).sum().backward()
    assert torch.equal(x.detach(), kept)


SECOND = {case.id.split("-")[0]: case for case in CASES}  # one of each operation


@pytest.mark.parametrize(("function", "tensors"), SECOND.values())
def test_gradgradcheck(function, tensors):
    assert gradgradcheck(function, leaves(tensors), check_fwd_over_rev=True)


# --- no loop over n, no matrix, nothing that waits for a device ----------------------------------


class Watch(TorchDispatchMode):
    """Counts what is computed, and notes the largest tensor and all types."""

    def __init__(self):
        super().__init__()
        self.count, self.largest, self.dtypes = 0, 0, set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        self.count += 1
        for t in out if isinstance(out, (list, tuple)) else [out]:
            if isinstance(t, torch.Tensor):
                self.largest = max(self.largest, t.numel())
                self.dtypes.add(t.dtype)
        return out


def every_kernel(x, alpha):
    """Calls of all kernels, forward and backward, on rows x: name, kernel, arguments, flags."""
    levels = torch.linspace(0.1, 0.9, 3, dtype=alpha.dtype, device=x.device).expand(len(x), 3)
    for kernel in portable.KERNELS.values():
        extra = {"soft_permute": [x.unsqueeze(-1)], "lap_sum": [x]}.get(kernel.operation, [])
        if kernel.weighted:
            extra = [torch.ones_like(x)]
        k = levels if kernel.operation == "soft_quantile" else x.shape[-1] * levels
        numbers = [k, alpha] if kernel.levels else [alpha]
        yield kernel, [x, *extra, *numbers], flags_of(kernel)


def run_all(kernel, args, flags):
    """Value, gradients and tangent."""
    out, saved = kernel.value(args, flags, 0, keep=True)
    grads = kernel.vjp(args, flags, 0, saved, torch.ones_like(out), [True] * len(args))
    return out, grads, kernel.jvp(args, flags, 0, [torch.ones_like(a) for a in args])


def test_time_and_memory_grow_with_n_and_a_little():
    alpha = torch.tensor([0.1], dtype=torch.float64)
    seen = {}
    for n in (1000, 100_000):
        for kernel, args, flags in every_kernel(batch(1, n), alpha):
            if kernel.name == "soft_permutation":
                continue
            with Watch() as seen[kernel.name, n]:
                run_all(kernel, args, flags)
            assert seen[kernel.name, n].largest <= 8 * n, kernel.name
    for name in portable.KERNELS.keys() - {"soft_permutation"}:
        assert seen[name, 100_000].count < 2 * seen[name, 1000].count, name


def test_every_tensor_lies_on_the_device_and_no_value_is_looked_at():
    """Tensors on "meta" have no values, and do not mix with those of another device."""
    x = torch.empty(2, 9, device="meta")
    alpha = torch.empty(2, device="meta", dtype=torch.float64)
    for kernel, args, flags in every_kernel(x, alpha):
        out, grads, tangent = run_all(kernel, args, flags)
        assert list(out.shape) == kernel.result_shape(args)
        assert all(t.is_meta for t in (out, *grads, tangent))
        assert [g.shape for g in grads] == [a.shape for a in args]


def test_kernels_can_be_traced():
    kernel, k = portable.KERNELS["soft_topk"], torch.tensor([2.5, 7.0], dtype=torch.float64)
    compiled = torch.compile(
        lambda x: kernel.value((x, k, 0.5), (True,), 0)[0], fullgraph=True, backend="eager"
    )
    x = batch(2, 9)
    torch.testing.assert_close(compiled(x), lapsum.soft_topk(x, k, 0.5), rtol=0, atol=0)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile_without_graph_breaks(backend):
    torch._dynamo.reset()

    def loss(x, k, alpha):
        return (lapsum.soft_topk(x, k, alpha) * lapsum.soft_rank(x, alpha)).sin().sum()

    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    args = [batch(3, 8), torch.tensor([1.0, 2.5, 4.0]).double(), torch.tensor(0.7).double()]
    args = [a.requires_grad_() for a in args]
    got, want = compiled(*args), loss(*args)
    torch.testing.assert_close(got, want)
    grads = torch.autograd.grad(got, args), torch.autograd.grad(want, args)
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b)


# --- devices -------------------------------------------------------------------------------------


def test_which_backend_serves_a_device():
    for name in ("cuda", "mps", "xpu", "meta"):
        assert backends.backend_for(torch.device(name)) is portable
    assert backends.backend_for(torch.device("cpu")) is portable  # as this file has it
    with backends.serving("cpu", kernels), backends.serving("cuda", kernels):
        assert backends.backend_for(torch.device("cpu")) is kernels
        assert backends.backend_for(torch.device("cuda", 1)) is kernels
    assert backends.backend_for(torch.device("cuda")) is portable


@every
def test_a_device_without_float64(op):
    x = batch(3, 9, dtype=torch.float32).requires_grad_()
    want = call(op, x)
    g = torch.cos(torch.arange(want.numel(), dtype=x.dtype)).view_as(want)
    (want_gradient,) = torch.autograd.grad(want, x, g)
    with precision.without_double("cpu"):
        args = [a if isinstance(a, float) else torch.tensor(a).float() for a in _rest(op, x)]
        with Watch() as seen:
            got = getattr(lapsum, op.name)(x, *args)
            (gradient,) = torch.autograd.grad(got, x, g)
    assert torch.float64 not in seen.dtypes
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradient, want_gradient, rtol=1e-4, atol=1e-4)


def _rest(op, x):
    return op.arguments(x.detach().double().numpy(), 0.7)[1:]


def test_arguments_on_other_devices():
    x = torch.empty(3, 5, device="meta")
    assert lapsum.soft_topk(x, torch.tensor(2.0), np.array([0.1, 0.2, 0.3])).is_meta
    with pytest.raises(
        ValueError, match=r"soft_topk: k must be on the device of the rows, meta, got cpu"
    ):
        lapsum.soft_topk(x, torch.ones(3), 0.5)
    with pytest.raises(ValueError, match="soft_permute: values must be on the device of the rows"):
        lapsum.soft_permute(x, torch.ones(3, 5), 0.5)


@pytest.mark.parametrize("hard", [True, False])
def test_hard_results_and_complements(hard):
    x = batch(3, 7).requires_grad_()
    p = lapsum.soft_topk(x, 3, 1e-3, hard=hard)
    torch.testing.assert_close(p.sum(-1), torch.full((3,), 3.0).double())
    logp, rest = lapsum.log_soft_topk(x, 3, 0.5, return_complement=True)
    torch.testing.assert_close(logp.exp() + rest.exp(), torch.ones_like(x))
