// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_rank.h"

#include "cpu/soft_rank.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {

template <class T>
void soft_rank(Rows<const T> x, PerRow alpha, Rows<T> rank, Order order, Threads threads,
               Rows<std::uint32_t> argsort) {
  const ops::Check check("soft_rank", "x", x, alpha, threads);
  check.output("rank", rank, x.count, x.length);
  check.optional_output("argsort", argsort, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::soft_rank(run.elements(x), run.numbers(alpha), run.results(rank), order, inner,
                   run.argsorts<T>(argsort));
  });
}

template <class T>
void soft_rank_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx, double* galpha,
                   Order order, Threads threads, Rows<const std::uint32_t> argsort) {
  const ops::Check check("soft_rank_vjp", "x", x, alpha, threads);
  check.input("g", g, x.count, x.length);
  check.optional_output("gx", gx, x.count, x.length);
  check.optional_input("argsort", argsort, x.count, x.length);
  check.argsort([&] {
    ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
      cpu::soft_rank_vjp(run.elements(x), run.numbers(alpha), run.elements(g), run.results(gx),
                         run.numbers(galpha), order, inner, run.argsorts<T>(argsort));
    });
  });
}

template <class T>
void soft_rank_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> drank, Order order, Threads threads, Rows<const std::uint32_t> argsort) {
  const ops::Check check("soft_rank_jvp", "x", x, alpha, threads);
  check.optional_input("dx", dx, x.count, x.length);
  check.output("drank", drank, x.count, x.length);
  check.optional_input("argsort", argsort, x.count, x.length);
  check.argsort([&] {
    ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
      cpu::soft_rank_jvp(run.elements(x), run.numbers(alpha), run.elements(dx), run.numbers(dalpha),
                         run.results(drank), order, inner, run.argsorts<T>(argsort));
    });
  });
}

template <class T>
void weighted_soft_rank(Rows<const T> x, Rows<const T> weights, PerRow alpha, Rows<T> rank,
                        Order order, Threads threads) {
  const ops::Check check("weighted_soft_rank", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.output("rank", rank, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_soft_rank(run.elements(x), run.elements(weights), run.numbers(alpha),
                            run.results(rank), order, inner);
  });
}

template <class T>
void weighted_soft_rank_vjp(Rows<const T> x, Rows<const T> weights, PerRow alpha, Rows<const T> g,
                            Rows<T> gx, Rows<T> gweights, double* galpha, Order order,
                            Threads threads) {
  const ops::Check check("weighted_soft_rank_vjp", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.input("g", g, x.count, x.length);
  check.optional_output("gx", gx, x.count, x.length);
  check.optional_output("gweights", gweights, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_soft_rank_vjp(run.elements(x), run.elements(weights), run.numbers(alpha),
                                run.elements(g), run.results(gx), run.results(gweights),
                                run.numbers(galpha), order, inner);
  });
}

template <class T>
void weighted_soft_rank_jvp(Rows<const T> x, Rows<const T> weights, PerRow alpha, Rows<const T> dx,
                            Rows<const T> dweights, const double* dalpha, Rows<T> drank,
                            Order order, Threads threads) {
  const ops::Check check("weighted_soft_rank_jvp", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.optional_input("dx", dx, x.count, x.length);
  check.optional_input("dweights", dweights, x.count, x.length);
  check.output("drank", drank, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_soft_rank_jvp(run.elements(x), run.elements(weights), run.numbers(alpha),
                                run.elements(dx), run.elements(dweights), run.numbers(dalpha),
                                run.results(drank), order, inner);
  });
}

LAPSUM_INSTANTIATE(soft_rank)
LAPSUM_INSTANTIATE(soft_rank_vjp)
LAPSUM_INSTANTIATE(soft_rank_jvp)
LAPSUM_INSTANTIATE(weighted_soft_rank)
LAPSUM_INSTANTIATE(weighted_soft_rank_vjp)
LAPSUM_INSTANTIATE(weighted_soft_rank_jvp)

}  // namespace lapsum
