// rank_j = weight before j + (behind_j - before_j) / 2 at sorted position j, before and behind being
// the decayed sums of the weights of the others. With peak = 1 / (2 alpha), K and Z the even and the
// odd first-order kernel sums:
//   drank_j = peak (K_w(r_j) dr_j - K_{w dr}(r_j) - Z_w(r_j) dalpha) + rank_j with weights dw,
// so that the gradient in the weights is a rank too, from the other end and with weights g.
#include "cpu/soft_rank.h"

#include "cpu/primitives/compensated.h"
#include "cpu/primitives/sorted_row.h"
#include "cpu/primitives/weighted_levels.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

// Decayed sums of v over the other values of a row. Those that include a value itself would drown
// the others in the rounding of a heavy one.
class Others {
 public:
  Others(const SortedRow& row, std::span<const double> v, Arena& arena, int threads)
      : sums_(scan_both<0>(row.decays, {v}, arena, threads)),
        keep_(decays_to_next(row.decays, arena, threads)) {}

  double before(std::ptrdiff_t j) const { return j > 0 ? keep_[j - 1] * sums_.right[0][j - 1] : 0; }
  double behind(std::ptrdiff_t j) const {
    return j + 1 < std::ssize(keep_) ? keep_[j] * sums_.left[0][j + 1] : 0;
  }
  double even(std::ptrdiff_t j) const { return before(j) + behind(j); }

 private:
  Scans<0> sums_;
  std::span<const double> keep_;
};

// The sum of v_l F((r_j - r_l) / alpha) over l != j, for every element j in sorted order, infinite ones
// too; or, from the other end, of v_l F((r_l - r_j) / alpha).
template <class T>
std::span<double> ranks(const SortedRow& row, const T* v, bool from_the_end, Arena& arena,
                        int threads) {
  std::span<double> out = arena.take<double>(row.n);
  const Others others(row, row.gather(v, 1, arena, threads), arena, threads);
  const auto value = [&](std::ptrdiff_t p) { return static_cast<double>(v[row.order[p]]); };
  Compensated so_far;
  const auto tie = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    Compensated all;
    for (std::ptrdiff_t p = begin; p < end; ++p) all.add(value(p));
    for (std::ptrdiff_t p = begin; p < end; ++p) {
      out[p] = so_far.value() + 0.5 * all.minus({value(p), 0});
    }
    so_far.add(all.sum);
    so_far.add(all.rest);
  };
  const std::ptrdiff_t last = row.n - row.above;
  from_the_end ? tie(last, row.n) : tie(0, row.below);
  for (std::ptrdiff_t step = 0; step < row.finite(); ++step) {
    const std::ptrdiff_t j = from_the_end ? row.finite() - 1 - step : step;
    const double rest = 0.5 * (others.behind(j) - others.before(j));
    out[row.below + j] = so_far.value() + (from_the_end ? -rest : rest);
    so_far.add(value(row.below + j));
  }
  from_the_end ? tie(0, row.below) : tie(last, row.n);
  return out;
}

template <class T>
void write(const SortedRow& row, std::span<const double> sorted, T* to) {
  for (std::ptrdiff_t p = 0; p < row.n; ++p) to[row.order[p]] = narrow<T>(sorted[p]);
}

// d rank / d|alpha| in sorted order.
std::span<double> alpha_slopes(const SortedRow& row, std::span<const double> w, double peak,
                               Arena& arena, int threads) {
  const Scans<1> sums = scan_both<1>(row.decays, {w, {}}, arena, threads);
  std::span<double> out = arena.take<double>(row.finite());
  for (std::ptrdiff_t j = 0; j < row.finite(); ++j) {
    out[j] = -peak * (sums.right[1][j] - sums.left[1][j]);
  }
  return out;
}

template <class T>
SortedRow sort(const WeightedRow<T>& row, Arena& arena, int threads) {
  SortedRow sorted = sort_row(row.x, row.n, row.orientation, Need::order, arena, threads);
  sorted.valid = sorted.valid && row.is_known();
  return sorted;
}

}  // namespace

template <class T>
void weighted_soft_rank(Rows<const T> x, Rows<const T> weights, const PerRow& alpha, Rows<T> rank,
                        Order order, Threads threads) {
  for_each_row(x.count, x.length, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = sort<T>({x[i], weights[i], x.length, orientation}, arena, inner);
    if (!row.valid) return fill(rank[i], x.length, kNaN);
    write(row, ranks(row, weights[i], false, arena, inner), rank[i]);
  });
}

template <class T>
void weighted_soft_rank_vjp(Rows<const T> x, Rows<const T> weights, const PerRow& alpha,
                            Rows<const T> g, Rows<T> gx, Rows<T> gweights, double* galpha,
                            Order order, Threads threads) {
  for_each_row(x.count, x.length, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = sort<T>({x[i], weights[i], x.length, orientation}, arena, inner);
    if (gx.data) fill(gx[i], x.length, row.valid ? 0 : kNaN);
    if (gweights.data) fill(gweights[i], x.length, kNaN);
    if (galpha) galpha[i] = row.valid ? 0 : kNaN;
    if (!row.valid) return;
    const std::span<const double> v = row.gather(g[i], 1, arena, inner);
    const std::span<const double> w = row.gather(weights[i], 1, arena, inner);
    if (gx.data) {
      const Others weight(row, w, arena, inner);
      const Others given(row, v, arena, inner);
      row.scatter(gx[i], arena, inner, [&](std::ptrdiff_t j) {
        return orientation.sign * orientation.peak() *
               (v[j] * weight.even(j) - w[j] * given.even(j));
      });
    }
    if (gweights.data) write(row, ranks(row, g[i], true, arena, inner), gweights[i]);
    if (galpha) {
      const auto slopes = alpha_slopes(row, w, orientation.peak(), arena, inner);
      galpha[i] = orientation.alpha_sign *
                  sum_over(row.finite(), inner, [&](std::ptrdiff_t j) { return v[j] * slopes[j]; });
    }
  });
}

template <class T>
void weighted_soft_rank_jvp(Rows<const T> x, Rows<const T> weights, const PerRow& alpha,
                            Rows<const T> dx, Rows<const T> dweights, const double* dalpha,
                            Rows<T> drank, Order order, Threads threads) {
  for_each_row(x.count, x.length, threads, [&](std::ptrdiff_t i, Arena& arena, int inner) {
    const Orientation orientation(alpha[i], order);
    const SortedRow row = sort<T>({x[i], weights[i], x.length, orientation}, arena, inner);
    if (!row.valid) return fill(drank[i], x.length, kNaN);
    std::span<double> out = arena.take<double>(x.length);
    std::fill(out.begin(), out.end(), 0.0);
    if (dweights.data) out = ranks(row, dweights[i], false, arena, inner);
    const std::span<double> finite = out.subspan(row.below, row.finite());
    const std::span<const double> w = row.gather(weights[i], 1, arena, inner);
    if (dx.data) {
      const auto v = row.gather(dx[i], 1, arena, inner, orientation.sign);
      std::span<double> wv = arena.take<double>(row.finite());
      for (std::size_t j = 0; j < wv.size(); ++j) wv[j] = w[j] * v[j];
      const Others weight(row, w, arena, inner);
      const Others moved(row, wv, arena, inner);
      for (std::ptrdiff_t j = 0; j < row.finite(); ++j) {
        finite[j] += orientation.peak() * (v[j] * weight.even(j) - moved.even(j));
      }
    }
    if (dalpha) {
      const auto slopes = alpha_slopes(row, w, orientation.peak(), arena, inner);
      const double da = orientation.alpha_sign * dalpha[i];
      for (std::ptrdiff_t j = 0; j < row.finite(); ++j) finite[j] += da * slopes[j];
    }
    write(row, out, drank[i]);
  });
}

LAPSUM_INSTANTIATE(weighted_soft_rank)
LAPSUM_INSTANTIATE(weighted_soft_rank_vjp)
LAPSUM_INSTANTIATE(weighted_soft_rank_jvp)

}  // namespace lapsum::cpu
