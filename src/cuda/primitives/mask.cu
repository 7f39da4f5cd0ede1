// Thresholds first, then for derivatives the sums over rows, then every element on its own.
#include "cuda/instantiate.h"
#include "cuda/primitives/elements.h"
#include "cuda/primitives/mask.h"
#include "cuda/primitives/mask_sums.h"
#include "cuda/primitives/threshold.h"

namespace lapsum::gpu {
namespace {

template <class T>
__global__ void __launch_bounds__(kElementThreads)
    value_kernel(Rows<const T> x, Items items, Rows<T> out) {
  for_each_element(items.count(), x.length, [&](std::ptrdiff_t item, std::ptrdiff_t i) {
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
  });
}

// gr = sum over levels of height (mean e - u g)
template <class T>
__global__ void __launch_bounds__(kElementThreads)
    gradient_kernel(Rows<const T> x, Items items, Rows<const T> g, const Pull* pulls, Rows<T> gx) {
  for_each_element(x.count, x.length, [&](std::ptrdiff_t row, std::ptrdiff_t i) {
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
  });
}

// u (height (mean - pull) + lift)
template <class T>
__global__ void __launch_bounds__(kElementThreads)
    tangent_kernel(Rows<const T> x, Items items, Tangent<T> along, const Pull* pulls, Rows<T> out) {
  for_each_element(items.count(), x.length, [&](std::ptrdiff_t item, std::ptrdiff_t i) {
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
  });
}

struct Scratch {
  Threshold* b;
  ThresholdScratch search;
  SumScratch sums;

  Scratch(Workspace& workspace, std::ptrdiff_t rows, std::ptrdiff_t levels, const Tiling& tiling)
      : b(workspace.take<Threshold>(rows * levels)),
        search(workspace, rows * levels, tiling),
        sums(workspace, rows * levels, tiling) {}
};

// The items of a batch with their thresholds: saved ones, or solved, and kept where asked for.
template <class T>
Items solve(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha, Order order,
            const Threshold* saved, Threshold* keep, const Scratch& scratch, const Tiling& tiling,
            CUstream_st* stream) {
  Threshold* const b = keep ? keep : scratch.b;
  if (!saved) solve_thresholds(x, k, alpha, order, b, tiling, scratch.search, stream);
  return {x.count, k.count(), alpha, order, saved ? saved : b, curve};
}

}  // namespace

std::size_t mask_workspace(std::ptrdiff_t rows, std::ptrdiff_t levels, const Tiling& tiling) {
  Workspace none;
  Scratch(none, rows, levels, tiling);
  return none.used();
}

template <class T>
void mask(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha, Rows<T> out,
          Threshold* keep, Order order, const cuda::Launch& where, const Tiling& tiling) {
  Workspace workspace(where);
  const Scratch scratch(workspace, x.count, k.count(), tiling);
  const Items items =
      solve(curve, x, k, alpha, order, nullptr, keep, scratch, tiling, where.stream);
  launch(where.stream, value_kernel<T>, element_tiles(out.count * out.length), kElementThreads, x,
         items, out);
}

template <class T>
void mask_vjp(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha,
              const Threshold* saved, Rows<const T> g, Rows<T> gx, double* gk, double* galpha,
              Order order, const cuda::Launch& where, const Tiling& tiling) {
  Workspace workspace(where);
  const Scratch scratch(workspace, x.count, k.count(), tiling);
  const Items items =
      solve(curve, x, k, alpha, order, saved, nullptr, scratch, tiling, where.stream);
  sum_vjp(x, items, g, gk, galpha, scratch.sums, tiling, where.stream);
  if (!gx.data) return;
  launch(where.stream, gradient_kernel<T>, element_tiles(gx.count * gx.length), kElementThreads, x,
         items, g, scratch.sums.pulls, gx);
}

template <class T>
void mask_jvp(Curve curve, Rows<const T> x, const Levels& k, const PerRow& alpha,
              const Threshold* saved, Rows<const T> dx, const double* dk, const double* dalpha,
              Rows<T> dout, Order order, const cuda::Launch& where, const Tiling& tiling) {
  Workspace workspace(where);
  const Scratch scratch(workspace, x.count, k.count(), tiling);
  const Items items =
      solve(curve, x, k, alpha, order, saved, nullptr, scratch, tiling, where.stream);
  const Tangent<T> along{dx, dk, dalpha};
  sum_jvp(x, items, along, scratch.sums, tiling, where.stream);
  launch(where.stream, tangent_kernel<T>, element_tiles(dout.count * dout.length), kElementThreads,
         x, items, along, scratch.sums.pulls, dout);
}

LAPSUM_INSTANTIATE_CUDA(mask)
LAPSUM_INSTANTIATE_CUDA(mask_vjp)
LAPSUM_INSTANTIATE_CUDA(mask_jvp)

}  // namespace lapsum::gpu
