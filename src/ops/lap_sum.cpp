// Checks arguments, then runs on the device that holds them.
#include "lapsum/lap_sum.h"

#include "cpu/lap_sum.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {

template <class T>
void lap_sum(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<T> y, Threads threads) {
  const ops::Check check("lap_sum", "r", r, alpha, threads);
  check.input("x", x, r.count, x.length);
  check.sortable("x", x.length);
  check.output("y", y, r.count, x.length);
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_sum(run.elements(r), run.points(x), run.numbers(alpha), run.points(y), inner);
  });
}

template <class T>
void lap_sum_vjp(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gr,
                 Rows<T> gx, double* galpha, Threads threads) {
  const ops::Check check("lap_sum_vjp", "r", r, alpha, threads);
  check.input("x", x, r.count, x.length);
  check.sortable("x", x.length);
  check.input("g", g, r.count, x.length);
  check.optional_output("gr", gr, r.count, r.length);
  check.optional_output("gx", gx, r.count, x.length);
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_sum_vjp(run.elements(r), run.points(x), run.numbers(alpha), run.points(g),
                     run.results(gr), run.points(gx), run.numbers(galpha), inner);
  });
}

template <class T>
void lap_sum_jvp(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<const T> dr, Rows<const T> dx,
                 const double* dalpha, Rows<T> dy, Threads threads) {
  const ops::Check check("lap_sum_jvp", "r", r, alpha, threads);
  check.input("x", x, r.count, x.length);
  check.sortable("x", x.length);
  check.optional_input("dr", dr, r.count, r.length);
  check.optional_input("dx", dx, r.count, x.length);
  check.output("dy", dy, r.count, x.length);
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_sum_jvp(run.elements(r), run.points(x), run.numbers(alpha), run.elements(dr),
                     run.points(dx), run.numbers(dalpha), run.points(dy), inner);
  });
}

LAPSUM_INSTANTIATE(lap_sum)
LAPSUM_INSTANTIATE(lap_sum_vjp)
LAPSUM_INSTANTIATE(lap_sum_jvp)

}  // namespace lapsum
