// db = <q, dr> + rate (dk - <F, dw>) + <q, z> dalpha, one pass over the row for each level. A level
// that is a share c of the whole weight W has dk = W dc + c sum(dw).
#include "cpu/lap_sum_inverse.h"

#include <algorithm>

#include "cpu/primitives/laplace.h"
#include "cpu/primitives/row.h"
#include "cpu/primitives/softmax.h"
#include "cpu/primitives/weighted_levels.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

constexpr double kLargest = 1e300;  // z is cut here, so that no product is NaN

// The levels of a row, and what follows from their unit.
class Scale {
 public:
  template <class T>
  Scale(const WeightedRow<T>& row, LevelUnit unit) : share_(unit == LevelUnit::share) {
    if (share_) whole_ = row.total();
  }

  Compensated level(double k) const {
    if (!share_) return {k, 0};
    const double product = k * whole_.sum;
    return {product, std::fma(k, whole_.sum, -product) + k * whole_.rest};
  }
  double per_level() const { return share_ ? whole_.value() : 1; }
  double per_weight(double k) const { return share_ ? k : 0; }

 private:
  bool share_;
  Compensated whole_;
};

template <class T>
std::span<const WeightedRoot> solve(const WeightedRow<T>& row, const Scale& scale, const double* k,
                                    std::ptrdiff_t m, Arena& arena, int threads) {
  std::span<WeightedRoot> roots = arena.take<WeightedRoot>(m);
  std::span<Compensated> levels = arena.take<Compensated>(m);
  for (std::ptrdiff_t t = 0; t < m; ++t) levels[t] = scale.level(k[t]);
  solve_weighted_levels<T>(row, levels, roots, arena, threads);
  return roots;
}

// A row as a root sees it: z = (b - r) / alpha, F(z), and the weights q, which sum to 1. Each side
// is seen from its nearest element, so that q and <q, z> stay exact on a plateau.
struct Seen {
  std::span<double> z, f, q;
};

Seen see(std::span<const double> r, std::span<const double> w, const WeightedRoot& root,
         double alpha, Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(r);
  const Seen out{arena.take<double>(n), arena.take<double>(n), arena.take<double>(n)};
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    distances(r, root.b, alpha, begin, end, out.z.data() + begin);
    for (std::ptrdiff_t j = begin; j < end; ++j) {
      const bool counts = w[j] > 0 && std::isfinite(r[j]);
      const bool on_left = r[j] <= root.left;
      const double beyond = (on_left ? root.left - r[j] : r[j] - root.right) / alpha;
      out.q[j] = counts ? beyond : INFINITY;
      if (counts) out.z[j] = on_left ? root.left_z + beyond : -(root.right_z + beyond);
      out.z[j] = std::clamp(out.z[j], -kLargest, kLargest);
    }
    exp_abs(out.q.data() + begin, end - begin, out.q.data() + begin);
    cdf(out.z.data() + begin, end - begin, out.f.data() + begin);
    for (std::ptrdiff_t j = begin; j < end; ++j) {
      out.q[j] *= w[j] * (r[j] <= root.left ? root.left_share : root.right_share);
    }
  });
  return out;
}

}  // namespace

template <class T>
void weighted_lap_sum_inverse(Rows<const T> r, Rows<const T> weights, const Levels& k,
                              LevelUnit unit, const PerRow& alpha, Rows<T> b, Order order,
                              Threads threads) {
  const std::ptrdiff_t m = k.count();
  for_each_row(r.count, r.length + m, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const WeightedRow<T> row{r[i], weights[i], r.length, Orientation(alpha[i], order)};
    const auto counts = [](T w) { return w != 0; };
    if (std::none_of(row.w, row.w + row.n, counts)) return fill(b[i], m, kNaN);
    const auto roots = solve(row, Scale(row, unit), k[i], m, arena, inner);
    narrow_all(0, m, b[i], [&](std::ptrdiff_t t) {
      return row.orientation.sign * (roots[t].b.anchor + roots[t].b.offset);
    });
  });
}

template <class T>
void weighted_lap_sum_inverse_vjp(Rows<const T> r, Rows<const T> weights, const Levels& k,
                                  LevelUnit unit, const PerRow& alpha, Rows<const T> g, Rows<T> gr,
                                  Rows<T> gweights, double* gk, double* galpha, Order order,
                                  Threads threads) {
  const std::ptrdiff_t m = k.count();
  const std::ptrdiff_t n = r.length;
  for_each_row(r.count, n + m, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const WeightedRow<T> row{r[i], weights[i], n, Orientation(alpha[i], order)};
    const Scale scale(row, unit);
    const auto roots = solve(row, scale, k[i], m, arena, inner);
    const std::span<const double> values = load(row.x, n, row.orientation.sign, arena, inner);
    const std::span<const double> w = load(row.w, n, 1, arena, inner);
    std::span<double> to_r = arena.take<double>(n);
    std::span<double> to_w = arena.take<double>(n);
    std::fill(to_r.begin(), to_r.end(), 0.0);
    std::fill(to_w.begin(), to_w.end(), 0.0);
    double ga = 0;
    for (std::ptrdiff_t t = 0; t < m; ++t) {
      const double u = row.orientation.sign * static_cast<double>(g[i][t]);
      double slope = 0;
      if (std::isnan(roots[t].b.anchor)) {
        std::fill(to_r.begin(), to_r.end(), kNaN);
        std::fill(to_w.begin(), to_w.end(), kNaN);
        ga = slope = kNaN;
      } else if (std::isfinite(roots[t].b.anchor)) {
        const Arena::Scope scope(arena);
        const Seen at = see(values, w, roots[t], row.orientation.alpha, arena, inner);
        slope = capped<double>(u * (2 * row.orientation.alpha * roots[t].rate));
        const double share = scale.per_weight(k[i][t]);
        for_each_chunk(n, inner, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
          for (std::ptrdiff_t j = begin; j < end; ++j) {
            to_r[j] += u * at.q[j];
            to_w[j] += slope * (share - at.f[j]);
          }
        });
        ga += u * sum_over(n, inner, [&](std::ptrdiff_t j) { return at.q[j] * at.z[j]; });
      }
      if (gk) gk[i * m + t] = capped<T>(slope * scale.per_level());
    }
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      if (gr.data) gr[i][j] = narrow<T>(row.orientation.sign * to_r[j]);
      if (gweights.data) gweights[i][j] = capped<T>(to_w[j]);
    }
    if (galpha) galpha[i] = row.orientation.alpha_sign * ga;
  });
}

template <class T>
void weighted_lap_sum_inverse_jvp(Rows<const T> r, Rows<const T> weights, const Levels& k,
                                  LevelUnit unit, const PerRow& alpha, Rows<const T> dr,
                                  Rows<const T> dweights, const double* dk, const double* dalpha,
                                  Rows<T> db, Order order, Threads threads) {
  const std::ptrdiff_t m = k.count();
  const std::ptrdiff_t n = r.length;
  for_each_row(r.count, n + m, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const WeightedRow<T> row{r[i], weights[i], n, Orientation(alpha[i], order)};
    const Scale scale(row, unit);
    const auto roots = solve(row, scale, k[i], m, arena, inner);
    const std::span<const double> values = load(row.x, n, row.orientation.sign, arena, inner);
    const std::span<const double> w = load(row.w, n, 1, arena, inner);
    const double da = dalpha ? row.orientation.alpha_sign * dalpha[i] : 0;
    for (std::ptrdiff_t t = 0; t < m; ++t) {
      double total = std::isnan(roots[t].b.anchor) ? kNaN : 0;
      if (std::isfinite(roots[t].b.anchor)) {
        const Arena::Scope scope(arena);
        const Seen at = see(values, w, roots[t], row.orientation.alpha, arena, inner);
        const double moved = sum_over(n, inner, [&](std::ptrdiff_t j) {
          const double v = dr.data ? row.orientation.sign * static_cast<double>(dr[i][j]) : 0;
          return at.q[j] * (v + at.z[j] * da);
        });
        double dlevel = dk ? dk[i * m + t] * scale.per_level() : 0;
        if (dweights.data) {
          const double share = scale.per_weight(k[i][t]);
          dlevel += sum_over(n, inner, [&](std::ptrdiff_t j) {
            return static_cast<double>(dweights[i][j]) * (share - at.f[j]);
          });
        }
        total = moved + capped<double>(dlevel * (2 * row.orientation.alpha * roots[t].rate));
      }
      db[i][t] = capped<T>(row.orientation.sign * total);
    }
  });
}

LAPSUM_INSTANTIATE(weighted_lap_sum_inverse)
LAPSUM_INSTANTIATE(weighted_lap_sum_inverse_vjp)
LAPSUM_INSTANTIATE(weighted_lap_sum_inverse_jvp)

}  // namespace lapsum::cpu
