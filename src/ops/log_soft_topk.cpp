// Checks arguments, then runs on the device that holds them.
#include "lapsum/log_soft_topk.h"

#include "cpu/log_soft_topk.h"
#include "instantiate.h"
#include "ops/check.h"

namespace lapsum {

template <class T>
void log_soft_topk(Rows<const T> x, Levels k, PerRow alpha, Rows<T> logp, Threshold* thresholds,
                   Order order, Threads threads) {
  const ops::Check check("log_soft_topk", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.output("logp", logp, x.count * k.count(), x.length);
  cpu::log_soft_topk(x, k, alpha, logp, thresholds, order, threads);
}

template <class T>
void log_soft_topk_vjp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                       Rows<const T> g, Rows<T> gx, double* gk, double* galpha, Order order,
                       Threads threads) {
  const ops::Check check("log_soft_topk_vjp", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.input("g", g, x.count * k.count(), x.length);
  check.optional_output("gx", gx, x.count, x.length);
  cpu::log_soft_topk_vjp(x, k, alpha, thresholds, g, gx, gk, galpha, order, threads);
}

template <class T>
void log_soft_topk_jvp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                       Rows<const T> dx, const double* dk, const double* dalpha, Rows<T> dlogp,
                       Order order, Threads threads) {
  const ops::Check check("log_soft_topk_jvp", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.optional_input("dx", dx, x.count, x.length);
  check.output("dlogp", dlogp, x.count * k.count(), x.length);
  cpu::log_soft_topk_jvp(x, k, alpha, thresholds, dx, dk, dalpha, dlogp, order, threads);
}

LAPSUM_INSTANTIATE(log_soft_topk)
LAPSUM_INSTANTIATE(log_soft_topk_vjp)
LAPSUM_INSTANTIATE(log_soft_topk_jvp)

}  // namespace lapsum
