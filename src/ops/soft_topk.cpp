// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_topk.h"

#include "cpu/soft_topk.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {

template <class T>
void soft_topk(Rows<const T> x, Levels k, PerRow alpha, Rows<T> p, Threshold* thresholds,
               Order order, Threads threads) {
  const ops::Check check("soft_topk", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.output("p", p, x.count * k.count(), x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::soft_topk(run.elements(x), run.levels(k), run.numbers(alpha), run.results(p),
                   run.numbers(thresholds, k.count()), order, inner);
  });
}

template <class T>
void soft_topk_vjp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                   Rows<const T> g, Rows<T> gx, double* gk, double* galpha, Order order,
                   Threads threads) {
  const ops::Check check("soft_topk_vjp", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.input("g", g, x.count * k.count(), x.length);
  check.optional_output("gx", gx, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::soft_topk_vjp(run.elements(x), run.levels(k), run.numbers(alpha),
                       run.numbers(thresholds, k.count()), run.elements(g), run.results(gx),
                       run.numbers(gk, k.count()), run.numbers(galpha), order, inner);
  });
}

template <class T>
void soft_topk_jvp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                   Rows<const T> dx, const double* dk, const double* dalpha, Rows<T> dp,
                   Order order, Threads threads) {
  const ops::Check check("soft_topk_jvp", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.optional_input("dx", dx, x.count, x.length);
  check.output("dp", dp, x.count * k.count(), x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::soft_topk_jvp(run.elements(x), run.levels(k), run.numbers(alpha),
                       run.numbers(thresholds, k.count()), run.elements(dx),
                       run.numbers(dk, k.count()), run.numbers(dalpha), run.results(dp), order,
                       inner);
  });
}

template <class T>
void weighted_soft_topk(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha, Rows<T> p,
                        Threshold* thresholds, Order order, Threads threads) {
  const ops::Check check("weighted_soft_topk", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.level("k", k, x.count, ops::kAnyWeight, "inf");
  check.output("p", p, x.count * k.count(), x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_soft_topk(run.elements(x), run.elements(weights), run.levels(k),
                            run.numbers(alpha), run.results(p), run.numbers(thresholds, k.count()),
                            order, inner);
  });
}

template <class T>
void weighted_soft_topk_vjp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                            const Threshold* thresholds, Rows<const T> g, Rows<T> gx,
                            Rows<T> gweights, double* gk, double* galpha, Order order,
                            Threads threads) {
  const ops::Check check("weighted_soft_topk_vjp", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.level("k", k, x.count, ops::kAnyWeight, "inf");
  check.input("g", g, x.count * k.count(), x.length);
  check.optional_output("gx", gx, x.count, x.length);
  check.optional_output("gweights", gweights, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_soft_topk_vjp(run.elements(x), run.elements(weights), run.levels(k),
                                run.numbers(alpha), run.numbers(thresholds, k.count()),
                                run.elements(g), run.results(gx), run.results(gweights),
                                run.numbers(gk, k.count()), run.numbers(galpha), order, inner);
  });
}

template <class T>
void weighted_soft_topk_jvp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                            const Threshold* thresholds, Rows<const T> dx, Rows<const T> dweights,
                            const double* dk, const double* dalpha, Rows<T> dp, Order order,
                            Threads threads) {
  const ops::Check check("weighted_soft_topk_jvp", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.level("k", k, x.count, ops::kAnyWeight, "inf");
  check.optional_input("dx", dx, x.count, x.length);
  check.optional_input("dweights", dweights, x.count, x.length);
  check.output("dp", dp, x.count * k.count(), x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_soft_topk_jvp(
        run.elements(x), run.elements(weights), run.levels(k), run.numbers(alpha),
        run.numbers(thresholds, k.count()), run.elements(dx), run.elements(dweights),
        run.numbers(dk, k.count()), run.numbers(dalpha), run.results(dp), order, inner);
  });
}

LAPSUM_INSTANTIATE_FOUR(soft_topk)
LAPSUM_INSTANTIATE_FOUR(soft_topk_vjp)
LAPSUM_INSTANTIATE_FOUR(soft_topk_jvp)
LAPSUM_INSTANTIATE(weighted_soft_topk)
LAPSUM_INSTANTIATE(weighted_soft_topk_vjp)
LAPSUM_INSTANTIATE(weighted_soft_topk_jvp)

}  // namespace lapsum
