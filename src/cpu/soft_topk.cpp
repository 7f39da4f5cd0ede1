// p = F(z): the slope in z is e^-|z| / 2, so that dp/dk = q.
#include "cpu/soft_topk.h"

#include "cpu/primitives/mask.h"
#include "instantiate.h"

namespace lapsum::cpu {
namespace {

struct TopK {
  static void values(double* z, std::ptrdiff_t n) { cdf(z, n, z); }
  static Slopes slopes(const Softmax& q, Arena&, int) { return {q.e, 0.5 * q.scale(), 1}; }
  static Saturated saturated(const Saturated& p) { return p; }
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

LAPSUM_INSTANTIATE(soft_topk)
LAPSUM_INSTANTIATE(soft_topk_vjp)
LAPSUM_INSTANTIATE(soft_topk_jvp)

}  // namespace lapsum::cpu
