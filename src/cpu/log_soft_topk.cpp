// log p = log F(z): the slope in z is min(p, 1 - p) / p, and 1 wherever p < 1/2.
#include "cpu/log_soft_topk.h"

#include "cpu/primitives/mask.h"
#include "cpu/primitives/pulled_row.h"
#include "cpu/primitives/weighted_mask.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

// Weights are cut where they are denormal in float; in q they are divided by their sum.
constexpr double kLeast = 1e-20;

struct LogTopK {
  static constexpr bool is_cdf = false;

  template <class T>
  static void values(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha,
                     T* out) {
    log_cdf_at(x, n, sign, b, alpha, out);
  }

  static double slope(double z, double e) {
    const double half = 0.5 * e;
    return z > 0 ? half / (1 - half) : 1;
  }
  static double lift(const WeightedSoftmax& q, std::ptrdiff_t, double slope) {
    return std::min(2 * slope * q.rate, 1e300);
  }

  static Slopes slopes(const Softmax& q, Arena& arena, int threads) {
    const std::ptrdiff_t n = std::ssize(q.z);
    std::span<double> u = arena.take<double>(n);
    for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      exp_abs(q.z.data() + begin, end - begin, u.data() + begin);
      for (std::ptrdiff_t i = begin; i < end; ++i) {
        const bool infinite = q.z[i] == 0 && q.e[i] == 0;
        u[i] = infinite ? 0 : slope(q.z[i], u[i]);
      }
    });
    return {u, 1, std::min(2 / q.scale(), 1e300)};
  }

  template <class T>
  static bool try_vjp(const MaskedRow<T>& row, Rows<const T> g, T* gx, double* gk, double* galpha,
                      Arena& arena, int threads) {
    return pull_row(row, g, gx, gk, galpha, Curve::log_cdf, kLeast, arena, threads);
  }
  template <class... Arguments>
  static bool try_jvp(Arguments&&...) {
    return false;
  }

  static Saturated saturated(const Saturated& p) {
    return {std::log(p.value), p.per_level > 0 ? p.per_level / p.value : 0};
  }
};

}  // namespace

template <class T>
void log_soft_topk(Rows<const T> x, const Levels& k, const PerRow& alpha, Rows<T> logp,
                   Threshold* thresholds, Order order, Threads threads) {
  mask<LogTopK>(x, k, alpha, logp, thresholds, order, threads);
}

template <class T>
void log_soft_topk_vjp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                       const Threshold* thresholds, Rows<const T> g, Rows<T> gx, double* gk,
                       double* galpha, Order order, Threads threads) {
  mask_vjp<LogTopK>(x, k, alpha, thresholds, g, gx, gk, galpha, order, threads);
}

template <class T>
void log_soft_topk_jvp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                       const Threshold* thresholds, Rows<const T> dx, const double* dk,
                       const double* dalpha, Rows<T> dlogp, Order order, Threads threads) {
  mask_jvp<LogTopK>(x, k, alpha, thresholds, dx, dk, dalpha, dlogp, order, threads);
}

template <class T>
void weighted_log_soft_topk(Rows<const T> x, Rows<const T> weights, const Levels& k,
                            const PerRow& alpha, Rows<T> logp, Threshold* thresholds, Order order,
                            Threads threads) {
  weighted_mask<LogTopK>(x, weights, k, alpha, logp, thresholds, order, threads);
}

template <class T>
void weighted_log_soft_topk_vjp(Rows<const T> x, Rows<const T> weights, const Levels& k,
                                const PerRow& alpha, const Threshold* thresholds, Rows<const T> g,
                                Rows<T> gx, Rows<T> gweights, double* gk, double* galpha,
                                Order order, Threads threads) {
  weighted_mask_vjp<LogTopK>(x, weights, k, alpha, thresholds, g, gx, gweights, gk, galpha, order,
                             threads);
}

template <class T>
void weighted_log_soft_topk_jvp(Rows<const T> x, Rows<const T> weights, const Levels& k,
                                const PerRow& alpha, const Threshold* thresholds, Rows<const T> dx,
                                Rows<const T> dweights, const double* dk, const double* dalpha,
                                Rows<T> dlogp, Order order, Threads threads) {
  weighted_mask_jvp<LogTopK>(x, weights, k, alpha, thresholds, dx, dweights, dk, dalpha, dlogp,
                             order, threads);
}

LAPSUM_INSTANTIATE_FOUR(log_soft_topk)
LAPSUM_INSTANTIATE_FOUR(log_soft_topk_vjp)
LAPSUM_INSTANTIATE_FOUR(log_soft_topk_jvp)
LAPSUM_INSTANTIATE(weighted_log_soft_topk)
LAPSUM_INSTANTIATE(weighted_log_soft_topk_vjp)
LAPSUM_INSTANTIATE(weighted_log_soft_topk_jvp)

}  // namespace lapsum::cpu
