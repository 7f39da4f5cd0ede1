// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_sort.h"

#include "cpu/soft_sort.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {

template <class T>
void soft_sort(Rows<const T> x, PerRow alpha, Rows<T> sorted, Order order, Threads threads,
               Rows<std::uint32_t> argsort) {
  const ops::Check check("soft_sort", "x", x, alpha, threads);
  check.output("sorted", sorted, x.count, x.length);
  check.optional_output("argsort", argsort, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::soft_sort(run.elements(x), run.numbers(alpha), run.results(sorted), order, inner,
                   run.argsorts<T>(argsort));
  });
}

template <class T>
void soft_sort_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx, double* galpha,
                   Order order, Threads threads, Rows<const std::uint32_t> argsort) {
  const ops::Check check("soft_sort_vjp", "x", x, alpha, threads);
  check.input("g", g, x.count, x.length);
  check.optional_output("gx", gx, x.count, x.length);
  check.optional_input("argsort", argsort, x.count, x.length);
  check.argsort([&] {
    ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
      cpu::soft_sort_vjp(run.elements(x), run.numbers(alpha), run.elements(g), run.results(gx),
                         run.numbers(galpha), order, inner, run.argsorts<T>(argsort));
    });
  });
}

template <class T>
void soft_sort_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> dsorted, Order order, Threads threads,
                   Rows<const std::uint32_t> argsort) {
  const ops::Check check("soft_sort_jvp", "x", x, alpha, threads);
  check.optional_input("dx", dx, x.count, x.length);
  check.output("dsorted", dsorted, x.count, x.length);
  check.optional_input("argsort", argsort, x.count, x.length);
  check.argsort([&] {
    ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
      cpu::soft_sort_jvp(run.elements(x), run.numbers(alpha), run.elements(dx), run.numbers(dalpha),
                         run.results(dsorted), order, inner, run.argsorts<T>(argsort));
    });
  });
}

LAPSUM_INSTANTIATE(soft_sort)
LAPSUM_INSTANTIATE(soft_sort_vjp)
LAPSUM_INSTANTIATE(soft_sort_jvp)

}  // namespace lapsum
