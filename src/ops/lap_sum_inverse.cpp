// Checks arguments, then runs on the device that holds them.
#include "lapsum/lap_sum_inverse.h"

#include "cpu/lap_sum_inverse.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {

template <class T>
void lap_sum_inverse(Rows<const T> r, Levels k, PerRow alpha, Rows<T> b, Threads threads) {
  const ops::Check check("lap_sum_inverse", "r", r, alpha, threads);
  check.level("k", k, r.count, static_cast<double>(r.length), "n");
  check.output("b", b, r.count, k.count());
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_sum_inverse(run.elements(r), run.levels(k), run.numbers(alpha), run.points(b),
                         Order::ascending, inner);
  });
}

template <class T>
void lap_sum_inverse_vjp(Rows<const T> r, Levels k, PerRow alpha, Rows<const T> g, Rows<T> gr,
                         double* gk, double* galpha, Threads threads) {
  const ops::Check check("lap_sum_inverse_vjp", "r", r, alpha, threads);
  check.level("k", k, r.count, static_cast<double>(r.length), "n");
  check.input("g", g, r.count, k.count());
  check.optional_output("gr", gr, r.count, r.length);
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_sum_inverse_vjp(run.elements(r), run.levels(k), run.numbers(alpha), run.points(g),
                             run.results(gr), run.numbers(gk, k.count()), run.numbers(galpha),
                             Order::ascending, inner);
  });
}

template <class T>
void lap_sum_inverse_jvp(Rows<const T> r, Levels k, PerRow alpha, Rows<const T> dr,
                         const double* dk, const double* dalpha, Rows<T> db, Threads threads) {
  const ops::Check check("lap_sum_inverse_jvp", "r", r, alpha, threads);
  check.level("k", k, r.count, static_cast<double>(r.length), "n");
  check.optional_input("dr", dr, r.count, r.length);
  check.output("db", db, r.count, k.count());
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_sum_inverse_jvp(run.elements(r), run.levels(k), run.numbers(alpha), run.elements(dr),
                             run.numbers(dk, k.count()), run.numbers(dalpha), run.points(db),
                             Order::ascending, inner);
  });
}

template <class T>
void weighted_lap_sum_inverse(Rows<const T> r, Rows<const T> weights, Levels k, PerRow alpha,
                              Rows<T> b, Threads threads) {
  const ops::Check check("weighted_lap_sum_inverse", "r", r, alpha, threads);
  check.input("weights", weights, r.count, r.length);
  check.level("k", k, r.count, ops::kAnyWeight, "inf");
  check.output("b", b, r.count, k.count());
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_lap_sum_inverse(run.elements(r), run.elements(weights), run.levels(k),
                                  cpu::LevelUnit::weight, run.numbers(alpha), run.points(b),
                                  Order::ascending, inner);
  });
}

template <class T>
void weighted_lap_sum_inverse_vjp(Rows<const T> r, Rows<const T> weights, Levels k, PerRow alpha,
                                  Rows<const T> g, Rows<T> gr, Rows<T> gweights, double* gk,
                                  double* galpha, Threads threads) {
  const ops::Check check("weighted_lap_sum_inverse_vjp", "r", r, alpha, threads);
  check.input("weights", weights, r.count, r.length);
  check.level("k", k, r.count, ops::kAnyWeight, "inf");
  check.input("g", g, r.count, k.count());
  check.optional_output("gr", gr, r.count, r.length);
  check.optional_output("gweights", gweights, r.count, r.length);
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_lap_sum_inverse_vjp(
        run.elements(r), run.elements(weights), run.levels(k), cpu::LevelUnit::weight,
        run.numbers(alpha), run.points(g), run.results(gr), run.results(gweights),
        run.numbers(gk, k.count()), run.numbers(galpha), Order::ascending, inner);
  });
}

template <class T>
void weighted_lap_sum_inverse_jvp(Rows<const T> r, Rows<const T> weights, Levels k, PerRow alpha,
                                  Rows<const T> dr, Rows<const T> dweights, const double* dk,
                                  const double* dalpha, Rows<T> db, Threads threads) {
  const ops::Check check("weighted_lap_sum_inverse_jvp", "r", r, alpha, threads);
  check.input("weights", weights, r.count, r.length);
  check.level("k", k, r.count, ops::kAnyWeight, "inf");
  check.optional_input("dr", dr, r.count, r.length);
  check.optional_input("dweights", dweights, r.count, r.length);
  check.output("db", db, r.count, k.count());
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_lap_sum_inverse_jvp(run.elements(r), run.elements(weights), run.levels(k),
                                      cpu::LevelUnit::weight, run.numbers(alpha), run.elements(dr),
                                      run.elements(dweights), run.numbers(dk, k.count()),
                                      run.numbers(dalpha), run.points(db), Order::ascending, inner);
  });
}

LAPSUM_INSTANTIATE(lap_sum_inverse)
LAPSUM_INSTANTIATE(lap_sum_inverse_vjp)
LAPSUM_INSTANTIATE(lap_sum_inverse_jvp)
LAPSUM_INSTANTIATE(weighted_lap_sum_inverse)
LAPSUM_INSTANTIATE(weighted_lap_sum_inverse_vjp)
LAPSUM_INSTANTIATE(weighted_lap_sum_inverse_jvp)

}  // namespace lapsum
