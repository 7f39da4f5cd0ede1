// With K_w and Z_w the even and the odd first-order kernel sums of the row, peak = 1 / (2 alpha):
//   dy = peak (K_1(x) dx - K_dr(x) - Z_1(x) dalpha).
// The gradient in r is a kernel sum of the points, seen from the elements: the same with roles
// exchanged.
#include "cuda/lap_sum.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/kernel_sums.h"
#include "cuda/primitives/row_factors.h"
#include "cuda/primitives/slabs.h"
#include "cuda/primitives/sum_rows.h"

namespace lapsum::gpu {
namespace {

constexpr Order kOrder = Order::ascending;

template <class T>
void value(Queue& queue, Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<T> y) {
  for_each_slab(queue, r.count, std::max(r.length, x.length), [&](const Slab& slab) {
    const SortedRows sorted = sort_rows(queue, slab.of(r), slab.of(alpha), kOrder);
    const double* const at = load(queue, slab.of(x), slab.of(alpha), kOrder);
    double* const sums = queue.take<double>(slab.count * x.length);
    kernel_sums(queue, sorted, nullptr, at, x.length, {Kernel::Shape::cdf, 0}, sums);
    store(queue, sums, slab.of(y));
  });
}

template <class T>
void vjp(Queue& queue, Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> g,
         Rows<T> gr, Rows<T> gx, double* galpha) {
  for_each_slab(queue, r.count, std::max(r.length, x.length), [&](const Slab& slab) {
    const double* const values = load(queue, slab.of(r), slab.of(alpha), kOrder);
    const double* const at = load(queue, slab.of(x), slab.of(alpha), kOrder);
    const double* const u = load(queue, slab.of(g));
    const SortedRows sorted =
        sort_rows(queue, values, slab.count, r.length, kIdleBits<T>, slab.of(alpha), kOrder);
    const Points points = locate(queue, sorted, at, x.length, true);
    double* const out = queue.take<double>(slab.count * std::max(r.length, x.length));
    if (gx.data) {
      const Queue::Scope scope(queue);
      gather(queue, scan_both<0>(queue, sorted.gaps(), nullptr), sorted.n, points,
             {.factor = u, .row_factor = row_factors(queue, sorted, {.sign = true, .peak = true})},
             out);
      store(queue, out, slab.of(gx));
    }
    if (gr.data) {
      const Queue::Scope scope(queue);
      const SortedRows seen =
          sort_rows(queue, at, slab.count, x.length, kIdleBits<T>, slab.of(alpha), kOrder);
      const double* const factors = row_factors(queue, sorted, {.sign = true, .peak = true}, -1,
                                                row_factors(queue, seen, {}));
      gather(queue, scan_both<0>(queue, seen.gaps(), in_order(queue, seen, u)), seen.n,
             locate(queue, seen, values, r.length, true), {.row_factor = factors}, out);
      store(queue, out, slab.of(gr));
    }
    if (galpha) {
      const Queue::Scope scope(queue);
      double* const sums = slab.of(galpha);
      gather(queue, scan_both<1>(queue, sorted.gaps(), nullptr), sorted.n, points,
             {.odd = true, .factor = u}, out);
      sum_rows(queue, out, slab.count, x.length, sums);
      row_factors(queue, sorted, {.alpha_sign = true, .peak = true}, -1, sums, sums);
    }
  });
}

template <class T>
void jvp(Queue& queue, Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> dr,
         Rows<const T> dx, const double* dalpha, Rows<T> dy) {
  for_each_slab(queue, r.count, std::max(r.length, x.length), [&](const Slab& slab) {
    const SortedRows sorted = sort_rows(queue, slab.of(r), slab.of(alpha), kOrder);
    const double* const at = load(queue, slab.of(x), slab.of(alpha), kOrder);
    const Points points = locate(queue, sorted, at, x.length, true);
    const double* const peak = row_factors(queue, sorted, {.peak = true});
    double* const total = queue.take<double>(slab.count * x.length);
    fill(queue, sorted, x.length, 0, total);
    if (dx.data) {
      const Queue::Scope scope(queue);
      const double* const moved = load(queue, slab.of(dx), slab.of(alpha), kOrder);
      gather(queue, scan_both<0>(queue, sorted.gaps(), nullptr), sorted.n, points,
             {.factor = moved, .row_factor = peak, .add = true}, total);
    }
    if (dr.data) {
      const Queue::Scope scope(queue);
      const double* const moved = load(queue, slab.of(dr), slab.of(alpha), kOrder);
      gather(queue, scan_both<0>(queue, sorted.gaps(), in_order(queue, sorted, moved)), sorted.n,
             points, {.scale = -1, .row_factor = peak, .add = true}, total);
    }
    if (dalpha) {
      const Queue::Scope scope(queue);
      const double* const factors =
          row_factors(queue, sorted, {.alpha_sign = true, .peak = true}, -1, slab.of(dalpha));
      gather(queue, scan_both<1>(queue, sorted.gaps(), nullptr), sorted.n, points,
             {.odd = true, .row_factor = factors, .add = true}, total);
    }
    store(queue, total, slab.of(dy));
  });
}

}  // namespace

std::size_t lap_sum_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  Queue counting;
  const auto r = some_rows<const double>(rows, n);
  const auto x = some_rows<const double>(rows, m);
  value(counting, r, x, 1, some_rows<double>(rows, m));
  vjp(counting, r, x, 1, x, some_rows<double>(rows, n), some_rows<double>(rows, m), some<double>());
  jvp(counting, r, x, 1, r, x, some<const double>(), some_rows<double>(rows, m));
  return counting.most();
}

template <class T>
void lap_sum(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<T> y,
             const cuda::Launch& where) {
  Queue queue(where);
  value(queue, r, x, alpha, y);
}

template <class T>
void lap_sum_vjp(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gr,
                 Rows<T> gx, double* galpha, const cuda::Launch& where) {
  Queue queue(where);
  vjp(queue, r, x, alpha, g, gr, gx, galpha);
}

template <class T>
void lap_sum_jvp(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> dr,
                 Rows<const T> dx, const double* dalpha, Rows<T> dy, const cuda::Launch& where) {
  Queue queue(where);
  jvp(queue, r, x, alpha, dr, dx, dalpha, dy);
}

LAPSUM_INSTANTIATE_CUDA(lap_sum)
LAPSUM_INSTANTIATE_CUDA(lap_sum_vjp)
LAPSUM_INSTANTIATE_CUDA(lap_sum_jvp)

}  // namespace lapsum::gpu
