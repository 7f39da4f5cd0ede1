// rank_j = j + (behind_j - before_j) / 2 at sorted position j, before and behind being the decayed
// scans of ones. The Jacobian in r is symmetric: (Jv)_j = peak (v_j K_1(r_j) - K_v(r_j)), so that
// one function serves both modes; d rank_j / dalpha = -peak Z_1(r_j), Z being the odd first moment.
#include "cpu/soft_rank.h"

#include "cpu/primitives/points.h"
#include "cpu/primitives/sorted_row.h"
#include "cpu/primitives/tiled_rows.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

constexpr Tiling kGradients{.most = kTileGradientLength};

// store(chunk, value) for the chunks of the row, value(j) being J v in sorted order, j counted from
// the chunk's begin. The element itself stands in both scans of both sums: it cancels.
template <class T, class Store>
void apply_jacobian(const SortedRow& row, std::span<const double> v, double peak, Arena& arena,
                    int threads, Store&& store) {
  const SideWeights weights[] = {{}, {v, v}};
  const auto on_chunk = [&](const ChunkOfScans& at) {
    const double* own = v.data() + at.begin;
    const Scans<0>& ones = at.scans[0];
    const Scans<0>& sums = at.scans[1];
    store(at, [&](std::ptrdiff_t j) {
      return peak * ((own[j] * ones.right[0][j] - sums.right[0][j]) +
                     (own[j] * ones.left[0][j] - sums.left[0][j]));
    });
  };
  scan_in_chunks<T>(row.decays.r, row.decays.alpha, weights, arena, threads, on_chunk);
}

// d rank / d|alpha| in sorted order.
std::span<double> alpha_slopes(const SortedRow& row, double peak, Arena& arena, int threads) {
  const Scans<1> ones = scan_both<1>(row.decays, {}, arena, threads);
  std::span<double> out = arena.take<double>(row.finite());
  for (std::ptrdiff_t j = 0; j < row.finite(); ++j) {
    out[j] = -peak * (ones.right[1][j] - ones.left[1][j]);
  }
  return out;
}

}  // namespace

template <class T>
void soft_rank(Rows<const T> x, const PerRow& alpha, Rows<T> rank, Order order, Threads threads,
               Rows<Index> keep) {
  const auto row_by_row = [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const std::ptrdiff_t n = x.length;
    const SortedRow row =
        sort_values(x[i], n, Orientation(alpha[i], order), Need::order, arena, inner, keep[i]);
    T* out = rank[i];
    if (!row.valid) return fill(out, n, kNaN);
    const auto tie = [&](std::ptrdiff_t first, std::ptrdiff_t count) {
      const double rank_of_all = static_cast<double>(first) + 0.5 * static_cast<double>(count - 1);
      for (std::ptrdiff_t p = first; p < first + count; ++p) {
        out[row.order[p]] = static_cast<T>(rank_of_all);
      }
    };
    tie(0, row.below);
    tie(n - row.above, row.above);
    Scattered<T> ranks_of = row.scattered(out, arena, inner);
    const auto on_chunk = [&](const ChunkOfScans& at) {
      const double* before = at.scans[0].right[0].data();
      const double* behind = at.scans[0].left[0].data();
      const auto to_ranks = [&](std::ptrdiff_t begin, int count, double* ranks) {
        const auto first = static_cast<double>(row.below + begin);
        const std::ptrdiff_t from = begin - at.begin;
        for (int j = 0; j < count; ++j) {
          ranks[j] = (first + j) + 0.5 * (behind[from + j] - before[from + j]);
        }
      };
      ranks_of.put(at.begin, at.end, to_ranks);
    };
    const SideWeights ones[1];
    scan_in_chunks<T>(row.decays.r, row.decays.alpha, ones, arena, inner, on_chunk);
    ranks_of.finish();
  };
  const auto tiled = [&](const auto& rows, Arena& arena) {
    rank_tile(rows.tile(), rows.of(rank), rows.of(keep), arena);
  };
  for_each_row_or_tile(x, alpha, order, threads, {}, tiled, row_by_row);
}

template <class T>
void soft_rank_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                   double* galpha, Order order, Threads threads, Rows<const Index> kept) {
  const auto row_by_row = [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = order_values(x[i], x.length, orientation, kept[i], arena, inner);
    if (!row.valid) {
      if (gx.data) fill(gx[i], x.length, kNaN);
      if (galpha) galpha[i] = kNaN;
      return;
    }
    const std::span<const double> v = row.gather(g[i], 1, arena, inner);
    if (gx.data) {
      const Arena::Scope scope(arena);
      row.clear_infinite(gx[i]);
      Scattered<T> results = row.scattered(gx[i], arena, inner);
      const auto store = [&](const ChunkOfScans& at, auto&& value) {
        results.put(at.begin, at.end, [&](std::ptrdiff_t j, int count, double* to) {
          for (int l = 0; l < count; ++l) to[l] = orientation.sign * value(j - at.begin + l);
        });
      };
      apply_jacobian<T>(row, v, orientation.peak(), arena, inner, store);
      results.finish();
    }
    if (galpha) {
      const std::span<const double> slopes = alpha_slopes(row, orientation.peak(), arena, inner);
      galpha[i] = orientation.alpha_sign *
                  sum_over(row.finite(), inner, [&](std::ptrdiff_t j) { return v[j] * slopes[j]; });
    }
  };
  if (!gx.data) return for_each_row(x.count, x.length, threads, row_by_row);
  if (galpha && kGradients.takes(x)) {  // gx has the same bits whether or not alpha is asked for
    soft_rank_vjp(x, alpha, g, Rows<T>{}, galpha, order, threads, kept);
    return soft_rank_vjp(x, alpha, g, gx, nullptr, order, threads, kept);
  }
  const auto tiled = [&](const auto& rows, Arena& arena) {
    rank_tile_vjp(rows.tile(), rows.of(g), rows.of(gx), rows.of(kept), arena);
  };
  for_each_row_or_tile(x, alpha, order, threads, kGradients, tiled, row_by_row);
}

template <class T>
void soft_rank_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> drank, Order order, Threads threads, Rows<const Index> kept) {
  for_each_row(x.count, x.length, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = order_values(x[i], x.length, orientation, kept[i], arena, inner);
    fill(drank[i], x.length, row.valid ? 0 : kNaN);
    if (!row.valid) return;
    std::span<double> total = arena.take<double>(row.finite());
    std::fill(total.begin(), total.end(), 0.0);
    if (dx.data) {
      const std::span<const double> v = row.gather(dx[i], 1, arena, inner, orientation.sign);
      const auto add = [&](const ChunkOfScans& at, auto&& value) {
        for (std::ptrdiff_t j = at.begin; j < at.end; ++j) total[j] += value(j - at.begin);
      };
      apply_jacobian<T>(row, v, orientation.peak(), arena, inner, add);
    }
    if (dalpha) {
      const std::span<const double> slopes = alpha_slopes(row, orientation.peak(), arena, inner);
      const double scale = orientation.alpha_sign * dalpha[i];
      for (std::ptrdiff_t j = 0; j < row.finite(); ++j) total[j] += scale * slopes[j];
    }
    row.scatter(drank[i], arena, inner, [&](std::ptrdiff_t j) { return total[j]; });
  });
}

LAPSUM_INSTANTIATE(soft_rank)
LAPSUM_INSTANTIATE(soft_rank_vjp)
LAPSUM_INSTANTIATE(soft_rank_jvp)

}  // namespace lapsum::cpu
