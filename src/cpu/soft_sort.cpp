#include "cpu/soft_sort.h"

#include "cpu/lap_sum_inverse.h"
#include "cpu/primitives/tiled_rows.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

// 1/2, 3/2, ..., n - 1/2
AllLevels half_integers(std::ptrdiff_t n) { return AllLevels::in_steps(0.5, n); }

// There is a level for every element.
constexpr Tiling kSorts{.worth = kWorthSorted / 2};
constexpr Tiling kGradients{.most = kTileGradientLength, .worth = kWorthSorted / 2};

template <class T>
Rows<T> one_row(Rows<T> rows, std::ptrdiff_t i) {
  return {rows[i], 1, rows.length};
}

}  // namespace

template <class T>
void soft_sort(Rows<const T> x, const PerRow& alpha, Rows<T> sorted, Order order, Threads threads,
               Rows<Index> keep) {
  const AllLevels at = half_integers(x.length);
  if (!kSorts.takes(x)) {
    return lap_sum_inverse(x, at, alpha, sorted, order, threads, keep);
  }
  const auto tiled = [&](const auto& rows, Arena& arena) {
    sort_tile(rows.tile(), rows.of(sorted), rows.of(keep), arena);
  };
  const auto row_by_row = [&](std::ptrdiff_t i, Arena&, int inner) {
    lap_sum_inverse(one_row(x, i), at, alpha[i], one_row(sorted, i), order, inner,
                    one_row(keep, i));
  };
  for_each_row_or_tile(x, alpha, order, threads, kSorts, tiled, row_by_row);
}

template <class T>
void soft_sort_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                   double* galpha, Order order, Threads threads, Rows<const Index> kept) {
  const AllLevels at = half_integers(x.length);
  if (!gx.data || !kGradients.takes(x)) {
    return lap_sum_inverse_vjp(x, at, alpha, g, gx, nullptr, galpha, order, threads, kept);
  }
  if (galpha) {  // gx has the same bits whether or not alpha is asked for
    soft_sort_vjp(x, alpha, g, Rows<T>{}, galpha, order, threads, kept);
  }
  const auto tiled = [&](const auto& rows, Arena& arena) {
    sort_tile_vjp(rows.tile(), rows.of(g), rows.of(gx), rows.of(kept), arena);
  };
  const auto row_by_row = [&](std::ptrdiff_t i, Arena&, int inner) {
    lap_sum_inverse_vjp(one_row(x, i), at, alpha[i], one_row(g, i), one_row(gx, i), nullptr,
                        nullptr, order, inner, one_row(kept, i));
  };
  for_each_row_or_tile(x, alpha, order, threads, kGradients, tiled, row_by_row);
}

template <class T>
void soft_sort_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> dsorted, Order order, Threads threads, Rows<const Index> kept) {
  const AllLevels at = half_integers(x.length);
  lap_sum_inverse_jvp(x, at, alpha, dx, nullptr, dalpha, dsorted, order, threads, kept);
}

LAPSUM_INSTANTIATE(soft_sort)
LAPSUM_INSTANTIATE(soft_sort_vjp)
LAPSUM_INSTANTIATE(soft_sort_jvp)

}  // namespace lapsum::cpu
