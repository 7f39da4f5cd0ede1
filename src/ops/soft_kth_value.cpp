// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_kth_value.h"

#include "cpu/lap_sum_inverse.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {

template <class T>
void soft_kth_value(Rows<const T> x, Levels k, PerRow alpha, Rows<T> b, Order order,
                    Threads threads) {
  const ops::Check check("soft_kth_value", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.output("b", b, x.count, k.count());
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_sum_inverse(run.elements(x), run.levels(k), run.numbers(alpha), run.points(b), order,
                         inner);
  });
}

template <class T>
void soft_kth_value_vjp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> g, Rows<T> gx,
                        double* gk, double* galpha, Order order, Threads threads) {
  const ops::Check check("soft_kth_value_vjp", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.input("g", g, x.count, k.count());
  check.optional_output("gx", gx, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_sum_inverse_vjp(run.elements(x), run.levels(k), run.numbers(alpha), run.points(g),
                             run.results(gx), run.numbers(gk, k.count()), run.numbers(galpha),
                             order, inner);
  });
}

template <class T>
void soft_kth_value_jvp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> dx, const double* dk,
                        const double* dalpha, Rows<T> db, Order order, Threads threads) {
  const ops::Check check("soft_kth_value_jvp", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.optional_input("dx", dx, x.count, x.length);
  check.output("db", db, x.count, k.count());
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_sum_inverse_jvp(run.elements(x), run.levels(k), run.numbers(alpha), run.elements(dx),
                             run.numbers(dk, k.count()), run.numbers(dalpha), run.points(db), order,
                             inner);
  });
}

template <class T>
void weighted_soft_kth_value(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                             Rows<T> b, Order order, Threads threads) {
  const ops::Check check("weighted_soft_kth_value", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.level("k", k, x.count, ops::kAnyWeight, "inf");
  check.output("b", b, x.count, k.count());
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_lap_sum_inverse(run.elements(x), run.elements(weights), run.levels(k),
                                  cpu::LevelUnit::weight, run.numbers(alpha), run.points(b), order,
                                  inner);
  });
}

template <class T>
void weighted_soft_kth_value_vjp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                                 Rows<const T> g, Rows<T> gx, Rows<T> gweights, double* gk,
                                 double* galpha, Order order, Threads threads) {
  const ops::Check check("weighted_soft_kth_value_vjp", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.level("k", k, x.count, ops::kAnyWeight, "inf");
  check.input("g", g, x.count, k.count());
  check.optional_output("gx", gx, x.count, x.length);
  check.optional_output("gweights", gweights, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_lap_sum_inverse_vjp(
        run.elements(x), run.elements(weights), run.levels(k), cpu::LevelUnit::weight,
        run.numbers(alpha), run.points(g), run.results(gx), run.results(gweights),
        run.numbers(gk, k.count()), run.numbers(galpha), order, inner);
  });
}

template <class T>
void weighted_soft_kth_value_jvp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                                 Rows<const T> dx, Rows<const T> dweights, const double* dk,
                                 const double* dalpha, Rows<T> db, Order order, Threads threads) {
  const ops::Check check("weighted_soft_kth_value_jvp", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.level("k", k, x.count, ops::kAnyWeight, "inf");
  check.optional_input("dx", dx, x.count, x.length);
  check.optional_input("dweights", dweights, x.count, x.length);
  check.output("db", db, x.count, k.count());
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_lap_sum_inverse_jvp(run.elements(x), run.elements(weights), run.levels(k),
                                      cpu::LevelUnit::weight, run.numbers(alpha), run.elements(dx),
                                      run.elements(dweights), run.numbers(dk, k.count()),
                                      run.numbers(dalpha), run.points(db), order, inner);
  });
}

LAPSUM_INSTANTIATE(soft_kth_value)
LAPSUM_INSTANTIATE(soft_kth_value_vjp)
LAPSUM_INSTANTIATE(soft_kth_value_jvp)
LAPSUM_INSTANTIATE(weighted_soft_kth_value)
LAPSUM_INSTANTIATE(weighted_soft_kth_value_vjp)
LAPSUM_INSTANTIATE(weighted_soft_kth_value_jvp)

}  // namespace lapsum
