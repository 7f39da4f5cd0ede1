// Row i of the matrix is the difference of the top-(i+1) and the top-i mask of the smallest
// elements, formed without cancellation. Derivatives are those of the masks: with s = e^-|z| / (2
// alpha) at threshold t, dF = s (<q, pull> - pull), pull = dr + z dalpha.
#include "cpu/soft_permutation.h"

#include <utility>

#include "cpu/primitives/interval_mass.h"
#include "cpu/primitives/laplace.h"
#include "cpu/primitives/permutation_roots.h"
#include "cpu/primitives/softmax.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

struct Cuts {
  SortedRow row;
  std::span<const double> r;     // elements in their own order
  std::span<const Threshold> b;  // finite - 1 thresholds
};

template <class T>
Cuts cut(const T* x, std::ptrdiff_t n, const Orientation& orientation, Arena& arena, int threads) {
  Cuts cuts{sort_row(x, n, orientation, Need::order, arena, threads), {}, {}};
  if (!cuts.row.valid) return cuts;
  cuts.r = load(x, n, orientation.sign, arena, threads);
  cuts.b = permutation_roots(cuts.row, arena, threads).b;
  return cuts;
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
      double mass[kMassBlock];
      for_each_mass_block(n, 1, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
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
    for_each_mass_block(n, inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      double e[kMassBlock];
      double sum[kMassBlock] = {};
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
    for_each_mass_block(n, inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      double z[kMassBlock];
      double e[kMassBlock];
      double before[kMassBlock] = {};
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
