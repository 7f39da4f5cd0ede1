// Thresholds first, then for derivatives the sums over rows, then every element on its own.
#include "cuda/primitives/mask.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/for_each.h"
#include "cuda/primitives/mask_sums.h"
#include "cuda/primitives/threshold.h"

namespace lapsum::gpu {
namespace {

template <class T>
struct Value {
  Rows<const T> x;
  Items items;
  Rows<T> out;
  __device__ void operator()(std::ptrdiff_t item, std::ptrdiff_t i) const {
    const View view = items.view(item);
    const double r = element(x, items, item, i, view);
    double y = NAN;
    if (view.is_saturated()) {
      y = view.saturated(r);
      if (items.curve == Curve::log_cdf) y = log(y);
    } else if (!view.is_nan()) {
      y = items.curve == Curve::cdf ? math::cdf(view.z(r)) : math::log_cdf(view.z(r));
    }
    out[item][i] = narrow<T>(y);
  }
};

// gr = sum over levels of height (mean e - u g)
template <class T>
struct Gradient {
  Rows<const T> x;
  Items items;
  Rows<const T> g;
  const Pull* pulls;
  Rows<T> gx;
  __device__ void operator()(std::ptrdiff_t row, std::ptrdiff_t i) const {
    double gr = 0;
    double sign = 1;
    for (std::ptrdiff_t item = row * items.levels; item < (row + 1) * items.levels; ++item) {
      const View view = items.view(item);
      const Pull pull = pulls[item];
      sign = view.orientation.sign;
      if (view.is_nan()) gr = NAN;
      if (!isfinite(view.b.anchor)) continue;
      const Seen seen = view.see(element(x, items, item, i, view));
      const double e = pull.weight(seen);
      gr += pull.height * (pull.mean * e - seen.slope(items.curve, e) * to_double(g[item][i]));
    }
    gx[row][i] = narrow<T>(sign * gr);
  }
};

// u (height (mean - pull) + lift)
template <class T>
struct Along {
  Rows<const T> x;
  Items items;
  Tangent<T> along;
  const Pull* pulls;
  Rows<T> out;
  __device__ void operator()(std::ptrdiff_t item, std::ptrdiff_t i) const {
    const View view = items.view(item);
    const Pull pull = pulls[item];
    const double r = element(x, items, item, i, view);
    double y = NAN;
    if (view.is_saturated()) {
      y = r == -INFINITY ? pull.lift : 0;
    } else if (!view.is_nan()) {
      const Seen seen = view.see(r);
      const double u = seen.slope(items.curve, pull.weight(seen));
      const double moved = pull.mean - along.pull(items, item, i, view, seen.z);
      y = u == 0 ? 0 : u * (pull.height * moved + pull.lift);
    }
    out[item][i] = capped<T>(y);
  }
};

// The items of a batch with their thresholds: saved ones, or solved, and kept where asked for.
template <class T>
Items solve(Queue& queue, Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha,
            Order order, const Threshold* saved, Threshold* keep, const Tiling& tiling) {
  if (!saved) {
    Threshold* const b = keep ? keep : queue.take<Threshold>(x.count * k.count());
    solve_thresholds(queue, x, k, alpha, order, tiling, b);
    saved = b;
  }
  return {x.count, k.count(), alpha, order, saved, curve};
}

template <class T>
void vjp(Queue& queue, Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha,
         const Threshold* saved, Rows<const T> g, Rows<T> gx, double* gk, double* galpha,
         Order order, const Tiling& tiling) {
  const Items items = solve(queue, curve, x, k, alpha, order, saved, nullptr, tiling);
  const Pull* const pulls = sum_vjp(queue, x, items, g, gk, galpha, tiling);
  if (gx.data) for_each(queue, x.count, x.length, Gradient<T>{x, items, g, pulls, gx});
}

}  // namespace

std::size_t mask_workspace(std::ptrdiff_t rows, std::ptrdiff_t levels, const Tiling& tiling) {
  Queue queue;
  const Rows<const double> x(nullptr, rows, tiling.n);
  vjp<double>(queue, Curve::cdf, x, Levels(nullptr, levels, 0), 1, nullptr, {}, {}, nullptr,
              nullptr, Order::ascending, tiling);
  return queue.most();
}

template <class T>
void mask(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha, Rows<T> out,
          Threshold* keep, Order order, const cuda::Launch& where, const Tiling& tiling) {
  Queue queue(where);
  const Items items = solve(queue, curve, x, k, alpha, order, nullptr, keep, tiling);
  for_each(queue, out.count, out.length, Value<T>{x, items, out});
}

template <class T>
void mask_vjp(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha,
              const Threshold* saved, Rows<const T> g, Rows<T> gx, double* gk, double* galpha,
              Order order, const cuda::Launch& where, const Tiling& tiling) {
  Queue queue(where);
  vjp(queue, curve, x, k, alpha, saved, g, gx, gk, galpha, order, tiling);
}

template <class T>
void mask_jvp(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha,
              const Threshold* saved, Rows<const T> dx, const double* dk, const double* dalpha,
              Rows<T> dout, Order order, const cuda::Launch& where, const Tiling& tiling) {
  Queue queue(where);
  const Items items = solve(queue, curve, x, k, alpha, order, saved, nullptr, tiling);
  const Tangent<T> along{dx, dk, dalpha};
  const Pull* const pulls = sum_jvp(queue, x, items, along, tiling);
  for_each(queue, dout.count, dout.length, Along<T>{x, items, along, pulls, dout});
}

LAPSUM_INSTANTIATE_CUDA(mask)
LAPSUM_INSTANTIATE_CUDA(mask_vjp)
LAPSUM_INSTANTIATE_CUDA(mask_jvp)

}  // namespace lapsum::gpu
