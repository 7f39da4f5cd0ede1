"""What every operation promises alike, whatever it computes."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from operations import OPERATIONS
from tolerances import assert_within

import lapsum

ALONG_DIM = [op for op in OPERATIONS if op.takes_dim]
REVERSIBLE = [op for op in OPERATIONS if op.reverse]

every = pytest.mark.parametrize("op", OPERATIONS, ids=str)
every_along_dim = pytest.mark.parametrize("op", ALONG_DIM, ids=str)


def batch(*shape: int, dtype: type = np.float64, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def arguments_count(op) -> int:
    return len(op.arguments(np.zeros(3), 1.0))


@every
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_result_has_the_dtype_of_x(op, dtype):
    x = batch(3, 5, dtype=dtype)
    y = op.call(x)
    assert y.dtype == dtype
    gradients = op.vjp(x, 0.7, np.ones_like(y))
    assert gradients[0].dtype == dtype
    assert gradients[-1].dtype == np.float64


@every
def test_float16_is_float32_rounded(op):
    x = batch(3, 5, dtype=np.float16)
    np.testing.assert_array_equal(op.call(x), op.call(x.astype(np.float32)).astype(np.float16))


@every
def test_lists_of_floats_are_arrays(op):
    x = [0.5, -1.0, 2.0]
    np.testing.assert_array_equal(op.call(x), op.call(np.array(x)))


@every
def test_a_batch_is_its_rows_to_the_bit(op):
    x = batch(2, 3, 17)
    y = op.call(x)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(y[index], op.call(x[index]))


@every
def test_other_rows_do_not_matter(op):
    x = batch(4, 33)
    other = x.copy()
    other[[0, 2, 3]] = batch(3, 33, seed=1) * 1e3
    np.testing.assert_array_equal(op.call(x)[1], op.call(other)[1])


@every
@pytest.mark.parametrize("n", [1, 5, 10007, 40001])
def test_bits_do_not_depend_on_threads_or_runs(op, n):
    if op.name == "soft_permutation":
        n = min(n, 401)
    x = batch(1 if n > 100 else 7, n, dtype=np.float32)
    y = op.call(x, num_threads=1)
    g = np.ones_like(y)
    gradients = op.vjp(x, 0.7, g, num_threads=1)
    for threads in (1, 2, 3, None):
        np.testing.assert_array_equal(op.call(x, num_threads=threads), y)
        for got, want in zip(op.vjp(x, 0.7, g, num_threads=threads), gradients, strict=True):
            np.testing.assert_array_equal(got, want)


@every
def test_many_python_threads_may_call_at_once(op):
    rows = [batch(40, 64, seed=s) for s in range(16)]
    want = [op.call(x, num_threads=1) for x in rows]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda x: op.call(x, num_threads=2), rows))
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


@every
def test_inputs_are_never_written_to(op):
    x = batch(3, 8)
    x.flags.writeable = False
    kept = x.copy()
    y = op.call(x)
    op.vjp(x, 0.7, np.ones_like(y))
    op.jvp(x, 0.7, [x] + [None] * (arguments_count(op) - 1))
    np.testing.assert_array_equal(x, kept)


@every
@pytest.mark.parametrize("shape", [(7,), (3, 7), (2, 1, 7)])
def test_contiguous_rows_take_a_shorter_way_to_the_same_bits(op, shape):
    x = np.random.default_rng(4).normal(size=shape)
    apart = np.repeat(x, 2, axis=-1)[..., ::2]  # the same, not contiguous
    for dtype in (np.float32, np.float64):
        short = op.call(x.astype(dtype))
        assert short.tobytes() == op.call(apart.astype(dtype, order="A")).tobytes()
        assert short.tobytes() == op.call(x.astype(dtype), num_threads=1).tobytes()
        assert short.shape == op.call(apart.astype(dtype)).shape


@every
def test_any_strides(op):
    wide = batch(6, 20)
    for view in (wide[::2, ::3], wide[::-1, ::-1], wide.T[:7], np.asfortranarray(wide)):
        np.testing.assert_array_equal(op.call(view), op.call(np.ascontiguousarray(view)))
    repeated = np.broadcast_to(wide[0], (3, 20))
    np.testing.assert_array_equal(op.call(repeated), op.call(repeated.copy()))


@every
def test_an_empty_batch(op):
    x = np.empty((0, 5))
    y = op.call(x)
    assert y.shape == (0, *op.call(np.zeros((2, 5))).shape[1:])
    gx, *_, galpha = op.vjp(x, 0.7, y)
    assert gx.shape == (0, 5)
    assert galpha == 0


@every
def test_a_single_element(op):
    assert np.all(np.isfinite(op.call(np.array([2.5]))))


@pytest.mark.parametrize("op", [op for op in OPERATIONS if "inverse" not in op.name], ids=str)
def test_rows_without_elements(op):
    if op.name in ("soft_quantile", "soft_kth_value"):
        assert np.isnan(op.call(np.empty((2, 0)))).all()
    else:
        y = op.call(np.empty((2, 0)))
        assert y.shape[0] == 2
        assert y.size == 0 or not y.any()


@every
def test_nan_makes_its_own_row_nan_and_no_other(op):
    x = batch(3, 9)
    clean = op.call(x)
    x[1, 4] = np.nan
    y = op.call(x)
    assert np.isnan(y[1]).all()
    np.testing.assert_array_equal(y[[0, 2]], clean[[0, 2]])
    gx = op.vjp(x, 0.7, np.ones_like(y))[0]
    assert np.isnan(gx[1]).all()
    assert np.isfinite(gx[[0, 2]]).all()
    dy = op.jvp(x, 0.7, [np.ones_like(x)] + [None] * (arguments_count(op) - 1))
    assert np.isnan(dy[1]).all()
    assert np.isfinite(dy[[0, 2]]).all()


@every
@pytest.mark.parametrize("bad", [0.0, -0.0, np.nan, np.inf, -np.inf])
def test_an_alpha_out_of_its_domain(op, bad):
    x = batch(3, 6)
    with pytest.raises(
        ValueError, match=rf"^{op.name}: alpha must be finite and not 0, got alpha="
    ):
        op.call(x, bad)
    y = op.call(x, np.array([0.7, bad, 0.7]))
    assert np.isnan(y[1]).all()
    np.testing.assert_array_equal(y[[0, 2]], op.call(x)[[0, 2]])


@every
def test_alpha_broadcasts_with_the_batch(op):
    x = batch(2, 3, 7)
    alpha = np.array([[0.3, 1.0, 2.0], [0.1, 4.0, 0.5]])
    y = op.call(x, alpha)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(y[index], op.call(x[index], float(alpha[index])))
    np.testing.assert_array_equal(op.call(x, alpha[0])[1], op.call(x[1], alpha[0]))
    np.testing.assert_array_equal(
        op.call(x, alpha.astype(np.float32)[:1])[1, 2], op.call(x[1, 2], 2.0)
    )


@every
def test_gradients_have_the_shapes_of_their_arguments(op):
    x, alpha = batch(2, 3, 7), np.array([[0.5], [1.5]])
    y = op.call(x, alpha)
    g = batch(*y.shape, seed=3)
    gx, *_, galpha = op.vjp(x, alpha, g)
    assert gx.shape == x.shape
    assert galpha.shape == alpha.shape
    rows = [[op.vjp(x[i, j], float(alpha[i, 0]), g[i, j]) for j in range(3)] for i in range(2)]
    for i in range(2):
        for j in range(3):
            np.testing.assert_array_equal(gx[i, j], rows[i][j][0])
        total = sum(float(rows[i][j][-1]) for j in range(3))
        assert_within("adjoint", "float64", "value", galpha[i, 0], total, size=abs(total) + 1)


@every
def test_vjp_and_jvp_are_adjoint(op):
    x = batch(2, 11)
    args = op.arguments(x, 0.7)
    tangents = [batch(*np.shape(a), seed=s) if np.ndim(a) else 0.3 for s, a in enumerate(args)]
    dy = op.jvp(x, 0.7, tangents)
    g = batch(*dy.shape, seed=9)
    gradients = op.vjp(x, 0.7, g)
    forward = (g * dy).sum()
    reverse = sum((a * b).sum() for a, b in zip(gradients, map(np.asarray, tangents), strict=True))
    size = np.abs(g * dy).sum()
    assert_within("adjoint", "float64", "value", reverse, forward, size=size)


@every
def test_a_tangent_left_out_is_zero(op):
    x = batch(2, 6)
    args = op.arguments(x, 0.7)
    zeros = [np.zeros(np.shape(a)) for a in args]
    one = [np.ones_like(x), *[None] * (len(args) - 1)]
    np.testing.assert_array_equal(op.jvp(x, 0.7, one), op.jvp(x, 0.7, [one[0], *zeros[1:]]))
    assert not op.jvp(x, 0.7, [None] * len(args)).any()


@pytest.mark.parametrize("op", REVERSIBLE, ids=str)
def test_a_negative_alpha_reverses_the_direction(op):
    x = batch(2, 9)
    for flag in (True, False):
        reversed_flag = {op.reverse: not flag}
        np.testing.assert_array_equal(
            op.call(x, -0.7, **{op.reverse: flag}), op.call(x, 0.7, **reversed_flag)
        )
        g = np.ones_like(op.call(x))
        g[..., 0] = 2
        forward = op.vjp(x, -0.7, g, **{op.reverse: flag})
        backward = op.vjp(x, 0.7, g, **reversed_flag)
        np.testing.assert_array_equal(forward[0], backward[0])
        assert forward[-1] == -backward[-1]


@every_along_dim
def test_dim_and_axis_are_one_argument(op):
    x = batch(4, 5, 6)
    for dim in (0, 1, 2, -3, -2, -1):
        moved = op.call(np.moveaxis(x, dim, -1))
        want = np.moveaxis(moved, -1, dim) if moved.ndim == x.ndim else moved
        np.testing.assert_array_equal(op.call_dim(x, dim=dim), want)
        np.testing.assert_array_equal(op.call_dim(x, axis=dim), want)
        gx = op.vjp_dim(x, np.ones_like(want), dim=dim)
        gmoved = op.vjp(np.moveaxis(x, dim, -1), 0.7, np.ones_like(moved))[0]
        np.testing.assert_array_equal(np.moveaxis(gx, dim, -1), gmoved)
    with pytest.raises(TypeError, match=f"{op.name}: dim and axis are the same argument"):
        op.call(x, dim=0, axis=1)


@every_along_dim
@pytest.mark.parametrize(("name", "value"), [("dim", 2), ("axis", -3)])
def test_an_axis_out_of_range(op, name, value):
    with pytest.raises(
        IndexError, match=rf"{op.name}: {name} must be in \[-2, 1\], got {name}={value}"
    ):
        op.call(batch(3, 4), **{name: value})
    with pytest.raises(TypeError, match=f"{op.name}: {name} must be an integer, got 0.5"):
        op.call(batch(3, 4), **{name: 0.5})


@every
@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.complex128, np.longdouble, object])
def test_other_dtypes(op, dtype):
    x = np.zeros((2, 3)).astype(dtype)
    with pytest.raises(TypeError, match=rf"{op.name}: .* must be float16, float32 or float64"):
        op.call(x)


@every
def test_a_single_number_is_not_a_row(op):
    function = getattr(lapsum, op.name)
    args = (np.float64(1.0), *op.arguments(np.ones(3), 0.7)[1:])
    with pytest.raises(ValueError, match=rf"{op.name}: \w must have at least one dimension"):
        function(*args)


@every
def test_batches_that_do_not_broadcast(op):
    with pytest.raises(
        ValueError, match=rf"{op.name}: batch shapes do not broadcast: .*alpha \(2,\)"
    ):
        op.call(batch(3, 4), np.ones(2))


@every
@pytest.mark.parametrize("bad", ["soft", None, 1j, True, [[1.0], [1.0, 2.0]]])
def test_an_alpha_that_is_no_number(op, bad):
    with pytest.raises((TypeError, ValueError), match=f"{op.name}: alpha must be "):
        op.call(batch(3, 4), bad)


@every
def test_a_gradient_of_the_wrong_shape(op):
    x = batch(3, 4)
    with pytest.raises(ValueError, match=rf"{op.name}_vjp: g must have shape .*, got \(7, 7\)"):
        op.vjp(x, 0.7, np.ones((7, 7)))
    with pytest.raises(ValueError, match=rf"{op.name}_jvp: d. must have shape .*, got \(7, 7\)"):
        op.jvp(x, 0.7, [np.ones((7, 7))] + [None] * (arguments_count(op) - 1))


@every
@pytest.mark.parametrize(
    ("threads", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError)]
)
def test_a_thread_count_out_of_its_domain(op, threads, error):
    with pytest.raises(error, match=f"{op.name}: num_threads must be"):
        op.call(batch(3, 4), num_threads=threads)


@every
@pytest.mark.parametrize("framework", ["jax"])
def test_arrays_of_a_framework_without_front_end(op, framework):
    tensor = type("Tensor", (), {"__module__": f"{framework}.tensor"})()
    function = getattr(lapsum, op.name)
    with pytest.raises(TypeError, match=f"{op.name}: {framework} arrays are not supported"):
        function(tensor, *op.arguments(np.ones(3), 0.7)[1:])


@every
@pytest.mark.parametrize("alpha", [1e-300, 5e-324, 1e300])
def test_extreme_alpha_hangs_nothing_and_gives_numbers(op, alpha):
    x = np.array([0.0, 1.0, 1.0, -3.0, 1e308, -1e308])
    y = op.call(x, alpha)
    assert not np.isnan(y).any()
    for gradient in op.vjp(x, alpha, np.ones_like(y)):
        assert not np.isnan(gradient).any()
    tangents = [np.ones(np.shape(a)) for a in op.arguments(x, alpha)]
    assert not np.isnan(op.jvp(x, alpha, tangents)).any()


@every
def test_a_finite_result_beyond_its_dtype_stays_finite_and_warns_of_nothing(op):
    x = np.array([-6e4, 6e4, 1.0], np.float16)
    for alpha in (1e5, 1e-3):
        assert np.isfinite(op.call(x, alpha)).all()
        for gradient in op.vjp(x, alpha, np.ones_like(op.call(x, alpha)))[:1]:
            assert np.isfinite(gradient).all()


@every
def test_masked_arrays_are_refused(op):
    x = np.ma.array([1.0, 9.0, 2.0], mask=[0, 1, 0])
    with pytest.raises(TypeError, match=f"{op.name}: . must not be a masked array"):
        getattr(lapsum, op.name)(x, *op.arguments(np.ones(3), 0.7)[1:])


def test_a_forked_process_neither_hangs_nor_crashes():
    code = """
import os, numpy as np, lapsum
x = np.random.default_rng(0).normal(size=(64, 1000))
want = lapsum.soft_rank(x, num_threads=2)
child = os.fork()
if child == 0:
    os._exit(0 if (lapsum.soft_rank(x) == want).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "0\n", run.stderr


def test_arrays_that_are_not_aligned():
    record = np.zeros(5, np.dtype([("tag", "i1"), ("x", "f8")]))
    record["x"] = [0.5, 3.0, -1.0, 0.6, 2.0]
    assert not record["x"].flags.aligned
    for op in OPERATIONS:
        np.testing.assert_array_equal(op.call(record["x"]), op.call(record["x"].copy()))


def test_numbers_beyond_all_floats():
    with pytest.raises(ValueError, match=r"soft_topk: k must be in \[0, n\], got k=inf with n=3"):
        lapsum.soft_topk(np.zeros(3), 10**400)
    with pytest.raises(
        ValueError, match="soft_rank: alpha must be finite and not 0, got alpha=-inf"
    ):
        lapsum.soft_rank(np.zeros(3), -(10**400))


def test_large_tangents_beside_infinite_elements():
    x = np.array([-np.inf, 1.0, 2.0, 3.0, np.inf])
    for name, args in {
        "soft_topk": (2.5,),
        "log_soft_topk": (2.5,),
        "soft_permutation": (),
    }.items():
        options = {"dalpha": 1e9}
        dy = getattr(lapsum, f"{name}_jvp")(x, *args, 1.0, **options)
        assert np.isfinite(dy).all()
        assert dy.any()
        g = np.full(dy.shape, 1e9)
        assert all(np.isfinite(t).all() for t in getattr(lapsum, f"{name}_vjp")(x, *args, 1.0, g))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_unbounded_slopes_are_capped_after_their_factors(dtype):
    r = np.array([0.0, 1e4], dtype)
    _, gk, _ = lapsum.lap_sum_inverse_vjp(r, [1.0], 1.0, np.array([1e9], dtype))
    assert np.isfinite(gk).all()
    assert np.isfinite(lapsum.lap_sum_inverse_jvp(r, [1.0], 1.0, dk=[1e9])).all()
    assert np.isfinite(lapsum.log_soft_topk_jvp(r, 1, 1.0, dk=1e9)).all()
    _, gk, _ = lapsum.log_soft_topk_vjp(r, 1, 1.0, np.full(2, 1e9, dtype))
    assert np.isfinite(gk)
