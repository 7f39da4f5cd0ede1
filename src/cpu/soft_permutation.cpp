// Row i of the matrix is the difference of the top-(i+1) and the top-i mask of the smallest
// elements, formed without cancellation. Derivatives are those of the masks: with s = e^-|z| / (2
// alpha) at threshold t, dF = s (<q, pull> - pull), pull = dr + z dalpha.
#include "cpu/soft_permutation.h"

#include <utility>

#include "cpu/primitives/mask.h"
#include "cpu/primitives/permutation_roots.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

constexpr std::ptrdiff_t kColumns = 256;

struct Cuts {
  SortedRow row;
  std::span<const double> r;     // elements in their own order
  std::span<const Threshold> b;  // finite - 1 thresholds
};

template <class T>
Cuts cut(const T* x, std::ptrdiff_t n, const Orientation& orientation, Arena& arena, int threads) {
  Cuts cuts{sort_row(x, n, orientation, Need::order, arena, threads), {}, {}};
  if (!cuts.row.valid) return cuts;
  const Scans<0> ones = scan_both<0>(cuts.row.decays, {}, arena, threads);
  cuts.r = load(x, n, orientation.sign, arena, threads);
  cuts.b = permutation_roots(cuts.row, ones, arena, threads).b;
  return cuts;
}

// body(begin, end) for blocks of columns.
template <class Body>
void for_each_column_block(std::ptrdiff_t n, int threads, Body&& body) {
  parallel_for((n + kColumns - 1) / kColumns, threads,
               [&](std::ptrdiff_t c, int) { body(c * kColumns, std::min(n, (c + 1) * kColumns)); });
}

// F((upper - r) / alpha) - F((lower - r) / alpha) for a block of columns. Both CDFs on one side of
// zero: e^-nearest (1 - e^-width) / 2; zero between them: (1 - e^-a) / 2 + (1 - e^-b) / 2.
void interval_mass(std::span<const double> r, const Threshold* lower, const Threshold* upper,
                   double alpha, std::ptrdiff_t begin, std::ptrdiff_t end, double* mass) {
  const std::ptrdiff_t count = end - begin;
  double to_lower[kColumns];
  double to_upper[kColumns];
  double nearest[kColumns];
  double second[kColumns];
  std::fill_n(to_lower, count, -INFINITY);
  std::fill_n(to_upper, count, INFINITY);
  if (lower) distances(r, *lower, alpha, begin, end, to_lower);
  if (upper) distances(r, *upper, alpha, begin, end, to_upper);
  const double width =
      lower && upper ? ((upper->anchor - lower->anchor) + (upper->offset - lower->offset)) / alpha
                     : INFINITY;
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    const bool inside = to_lower[j] < 0 && to_upper[j] > 0;
    mass[j] = inside ? to_upper[j] : std::max(width, 0.0);
    second[j] = inside ? -to_lower[j] : 0;
    nearest[j] = inside ? 0 : std::min(std::abs(to_lower[j]), std::abs(to_upper[j]));
  }
  decay_loss(mass, count, mass);
  decay_loss(second, count, second);
  exp_abs(nearest, count, nearest);
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    mass[j] = 0.5 * (nearest[j] * mass[j] + second[j]);
  }
}

// The share of an element r in a position at one of the ends, taken by infinite elements.
double infinite_share(const SortedRow& row, std::ptrdiff_t position, double r) {
  if (position < row.below && r == -INFINITY) return 1 / static_cast<double>(row.below);
  if (position >= row.n - row.above && r == INFINITY) return 1 / static_cast<double>(row.above);
  return 0;
}

// What phase one of a derivative leaves of each threshold.
struct Pull {
  double mean = 0;    // <q, pull> or <q, v>
  double galpha = 0;  // only in reverse mode
};

}  // namespace

template <class T>
void soft_permutation(Rows<const T> x, const PerRow& alpha, Rows<T> matrix, Order order,
                      Threads threads) {
  const std::ptrdiff_t n = x.length;
  for_each_row(x.count, n * n, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const Cuts cuts = cut(x[i], n, orientation, arena, inner);
    if (!cuts.row.valid) return fill(matrix[i], n * n, kNaN);
    parallel_for(n, inner, [&](std::ptrdiff_t position, int) {
      T* out = matrix[i] + position * n;
      const std::ptrdiff_t p = position - cuts.row.below;
      const std::ptrdiff_t finite = cuts.row.finite();
      if (p < 0 || p >= finite) {
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          out[j] = static_cast<T>(infinite_share(cuts.row, position, cuts.r[j]));
        }
        return;
      }
      double mass[kColumns];
      for_each_column_block(n, 1, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        interval_mass(cuts.r, p > 0 ? &cuts.b[p - 1] : nullptr,
                      p + 1 < finite ? &cuts.b[p] : nullptr, orientation.alpha, begin, end, mass);
        for (std::ptrdiff_t j = begin; j < end; ++j) {
          out[j] = static_cast<T>(std::isfinite(cuts.r[j]) ? mass[j - begin] : 0);
        }
      });
    });
  });
}

template <class T>
void soft_permutation_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                          double* galpha, Order order, Threads threads) {
  const std::ptrdiff_t n = x.length;
  for_each_row(x.count, n * n, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const Cuts cuts = cut(x[i], n, orientation, arena, inner);
    if (gx.data) fill(gx[i], n, cuts.row.valid ? 0 : kNaN);
    if (galpha) galpha[i] = cuts.row.valid ? 0 : kNaN;
    if (!cuts.row.valid) return;
    const std::ptrdiff_t roots = std::ssize(cuts.b);
    // The gradient of threshold t's mask: rows t - 1 and t of g meet there with opposite signs.
    const auto v = [&](std::ptrdiff_t t, std::ptrdiff_t j) {
      const T* above = g[i] + (cuts.row.below + t) * n + j;
      return static_cast<double>(above[0]) - static_cast<double>(above[n]);
    };
    std::span<Pull> pulls = arena.take<Pull>(roots);
    std::vector<Arena> scratch(static_cast<std::size_t>(inner));
    parallel_for(roots, inner, [&](std::ptrdiff_t t, int thread) {
      Arena& own = scratch[static_cast<std::size_t>(thread)];
      const Arena::Scope scope(own);
      const Softmax q = softmax_at(cuts.r, cuts.b[t], orientation.alpha, own, 1);
      Pull pull{q.mean(1, [&](std::ptrdiff_t j) { return v(t, j); }), 0};
      const double mean_z = q.mean(1, [&](std::ptrdiff_t j) { return q.z[j]; });
      pull.galpha = orientation.peak() * q.scale() * q.total *
                    q.mean(1, [&](std::ptrdiff_t j) { return v(t, j) * (mean_z - q.z[j]); });
      pulls[t] = pull;
    });
    if (galpha) {
      galpha[i] = orientation.alpha_sign *
                  sum_over(roots, 1, [&](std::ptrdiff_t t) { return pulls[t].galpha; });
    }
    if (!gx.data) return;
    for_each_column_block(n, inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      double e[kColumns];
      double sum[kColumns] = {};
      for (std::ptrdiff_t t = 0; t < roots; ++t) {
        distances(cuts.r, cuts.b[t], orientation.alpha, begin, end, e);
        exp_abs(e, end - begin, e);
        for (std::ptrdiff_t j = begin; j < end; ++j) {
          sum[j - begin] += e[j - begin] * (pulls[t].mean - v(t, j));
        }
      }
      for (std::ptrdiff_t j = begin; j < end; ++j) {
        gx[i][j] = narrow<T>(orientation.sign * orientation.peak() * sum[j - begin]);
      }
    });
  });
}

template <class T>
void soft_permutation_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx,
                          const double* dalpha, Rows<T> dmatrix, Order order, Threads threads) {
  const std::ptrdiff_t n = x.length;
  for_each_row(x.count, n * n, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const Cuts cuts = cut(x[i], n, orientation, arena, inner);
    fill(dmatrix[i], n * n, cuts.row.valid ? 0 : kNaN);
    if (!cuts.row.valid) return;
    const std::ptrdiff_t roots = std::ssize(cuts.b);
    const double da = dalpha ? orientation.alpha_sign * dalpha[i] : 0;
    const auto pull = [&](std::ptrdiff_t j, double z) {
      return (dx.data ? orientation.sign * static_cast<double>(dx[i][j]) : 0) + z * da;
    };
    std::span<Pull> pulls = arena.take<Pull>(roots);
    std::vector<Arena> scratch(static_cast<std::size_t>(inner));
    parallel_for(roots, inner, [&](std::ptrdiff_t t, int thread) {
      Arena& own = scratch[static_cast<std::size_t>(thread)];
      const Arena::Scope scope(own);
      const Softmax q = softmax_at(cuts.r, cuts.b[t], orientation.alpha, own, 1);
      pulls[t].mean = q.mean(1, [&](std::ptrdiff_t j) { return pull(j, q.z[j]); });
    });
    for_each_column_block(n, inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      double z[kColumns];
      double e[kColumns];
      double before[kColumns] = {};
      for (std::ptrdiff_t t = 0; t <= roots && roots > 0; ++t) {
        T* out = dmatrix[i] + (cuts.row.below + t) * n;
        if (t < roots) {
          distances(cuts.r, cuts.b[t], orientation.alpha, begin, end, z);
          exp_abs(z, end - begin, e);
        }
        for (std::ptrdiff_t j = begin; j < end; ++j) {
          const bool moves = t < roots && e[j - begin] > 0;
          const double now =
              moves ? orientation.peak() * e[j - begin] * (pulls[t].mean - pull(j, z[j - begin]))
                    : 0;
          out[j] = narrow<T>(now - std::exchange(before[j - begin], now));
        }
      }
    });
  });
}

LAPSUM_INSTANTIATE(soft_permutation)
LAPSUM_INSTANTIATE(soft_permutation_vjp)
LAPSUM_INSTANTIATE(soft_permutation_jvp)

}  // namespace lapsum::cpu
