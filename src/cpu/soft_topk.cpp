// p = F(z): the slope in z is e^-|z| / 2, so that dp/dk = q.
#include "cpu/soft_topk.h"

#include "cpu/primitives/bracket.h"
#include "cpu/primitives/guessed_mask.h"
#include "cpu/primitives/kept_mask.h"
#include "cpu/primitives/mask.h"
#include "cpu/primitives/pulled_row.h"
#include "cpu/primitives/weighted_mask.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

struct TopK {
  static constexpr bool is_cdf = true;

  template <class T>
  static void values(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha,
                     T* p) {
    cdf_at(x, n, sign, b, alpha, p);
  }
  static Slopes slopes(const Softmax& q, Arena&, int) { return {q.e, 0.5 * q.scale(), 1}; }
  static Saturated saturated(const Saturated& p) { return p; }
  static double slope(double, double e) { return 0.5 * e; }
  static double lift(const WeightedSoftmax& q, std::ptrdiff_t i, double) { return q.lift(i); }

  template <class T>
  static bool try_mask(const MaskedRow<T>& row, double k, Threshold& b, T* p, Arena& arena,
                       int threads) {
    const Orientation& o = row.orientation;
    auto found = mask_from_guess(row.x, row.n, o.sign, k, o.alpha, p, arena);
    if (!found) found = mask_keeping_decays(row.x, row.n, o.sign, k, o.alpha, p, arena, threads);
    if (found) b = *found;
    return found.has_value();
  }

  template <class T>
  static bool try_vjp(const MaskedRow<T>& row, Rows<const T> g, T* gx, double* gk, double* galpha,
                      Arena& arena, int threads) {
    return pull_row(row, g, gx, gk, galpha, Curve::cdf, kPlateau, arena, threads);
  }

  // The derivative along x is its own adjoint.
  template <class T>
  static bool try_jvp(const MaskedRow<T>& row, const T* dx, Rows<T> dp, Arena& arena, int threads) {
    if (!is_plain(row.orientation.alpha)) return false;
    std::span<Pull<T>> levels = arena.take<Pull<T>>(dp.count);
    for (std::ptrdiff_t l = 0; l < dp.count; ++l) {
      DensitySums sums;
      if (!weigh_level(row, l, dx, false, Curve::cdf, kPlateau, threads, levels[l], sums)) {
        return false;
      }
    }
    for (std::ptrdiff_t l = 0; l < dp.count; ++l) {
      pull_levels<T>(row, levels.subspan(static_cast<std::size_t>(l), 1), dp[l], Curve::cdf,
                     threads);
    }
    return true;
  }
};

}  // namespace

template <class T>
void soft_topk(Rows<const T> x, const Levels& k, const PerRow& alpha, Rows<T> p,
               Threshold* thresholds, Order order, Threads threads) {
  mask<TopK>(x, k, alpha, p, thresholds, order, threads);
}

template <class T>
void soft_topk_vjp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                   const Threshold* thresholds, Rows<const T> g, Rows<T> gx, double* gk,
                   double* galpha, Order order, Threads threads) {
  mask_vjp<TopK>(x, k, alpha, thresholds, g, gx, gk, galpha, order, threads);
}

template <class T>
void soft_topk_jvp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                   const Threshold* thresholds, Rows<const T> dx, const double* dk,
                   const double* dalpha, Rows<T> dp, Order order, Threads threads) {
  mask_jvp<TopK>(x, k, alpha, thresholds, dx, dk, dalpha, dp, order, threads);
}

template <class T>
void weighted_soft_topk(Rows<const T> x, Rows<const T> weights, const Levels& k,
                        const PerRow& alpha, Rows<T> p, Threshold* thresholds, Order order,
                        Threads threads) {
  weighted_mask<TopK>(x, weights, k, alpha, p, thresholds, order, threads);
}

template <class T>
void weighted_soft_topk_vjp(Rows<const T> x, Rows<const T> weights, const Levels& k,
                            const PerRow& alpha, const Threshold* thresholds, Rows<const T> g,
                            Rows<T> gx, Rows<T> gweights, double* gk, double* galpha, Order order,
                            Threads threads) {
  weighted_mask_vjp<TopK>(x, weights, k, alpha, thresholds, g, gx, gweights, gk, galpha, order,
                          threads);
}

template <class T>
void weighted_soft_topk_jvp(Rows<const T> x, Rows<const T> weights, const Levels& k,
                            const PerRow& alpha, const Threshold* thresholds, Rows<const T> dx,
                            Rows<const T> dweights, const double* dk, const double* dalpha,
                            Rows<T> dp, Order order, Threads threads) {
  weighted_mask_jvp<TopK>(x, weights, k, alpha, thresholds, dx, dweights, dk, dalpha, dp, order,
                          threads);
}

LAPSUM_INSTANTIATE_FOUR(soft_topk)
LAPSUM_INSTANTIATE_FOUR(soft_topk_vjp)
LAPSUM_INSTANTIATE_FOUR(soft_topk_jvp)
LAPSUM_INSTANTIATE(weighted_soft_topk)
LAPSUM_INSTANTIATE(weighted_soft_topk_vjp)
LAPSUM_INSTANTIATE(weighted_soft_topk_jvp)

}  // namespace lapsum::cpu
