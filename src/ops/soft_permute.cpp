// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_permute.h"

#include "cpu/soft_permute.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {

template <class T>
void soft_permute(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                  Rows<T> out, Apply apply, Order order, Threads threads) {
  const ops::Check check("soft_permute", "x", x, alpha, threads);
  check.sortable("columns", columns);
  check.input("values", values, x.count, x.length * columns);
  check.output("out", out, x.count, x.length * columns);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::soft_permute(run.elements(x), run.elements(values), columns, run.numbers(alpha),
                      run.results(out), apply, order, inner);
  });
}

template <class T>
void soft_permute_vjp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                      Rows<const T> g, Rows<T> gx, Rows<T> gvalues, double* galpha, Apply apply,
                      Order order, Threads threads) {
  const ops::Check check("soft_permute_vjp", "x", x, alpha, threads);
  check.sortable("columns", columns);
  check.input("values", values, x.count, x.length * columns);
  check.input("g", g, x.count, x.length * columns);
  check.optional_output("gx", gx, x.count, x.length);
  check.optional_output("gvalues", gvalues, x.count, x.length * columns);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::soft_permute_vjp(run.elements(x), run.elements(values), columns, run.numbers(alpha),
                          run.elements(g), run.results(gx), run.results(gvalues),
                          run.numbers(galpha), apply, order, inner);
  });
}

template <class T>
void soft_permute_jvp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                      Rows<const T> dx, Rows<const T> dvalues, const double* dalpha, Rows<T> dout,
                      Apply apply, Order order, Threads threads) {
  const ops::Check check("soft_permute_jvp", "x", x, alpha, threads);
  check.sortable("columns", columns);
  check.input("values", values, x.count, x.length * columns);
  check.optional_input("dx", dx, x.count, x.length);
  check.optional_input("dvalues", dvalues, x.count, x.length * columns);
  check.output("dout", dout, x.count, x.length * columns);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::soft_permute_jvp(run.elements(x), run.elements(values), columns, run.numbers(alpha),
                          run.elements(dx), run.elements(dvalues), run.numbers(dalpha),
                          run.results(dout), apply, order, inner);
  });
}

LAPSUM_INSTANTIATE(soft_permute)
LAPSUM_INSTANTIATE(soft_permute_vjp)
LAPSUM_INSTANTIATE(soft_permute_jvp)

}  // namespace lapsum
