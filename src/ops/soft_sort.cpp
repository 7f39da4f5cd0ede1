// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_sort.h"

#include "cpu/soft_sort.h"
#include "instantiate.h"
#include "ops/check.h"

namespace lapsum {

template <class T>
void soft_sort(Rows<const T> x, PerRow alpha, Rows<T> sorted, Order order, Threads threads) {
  const ops::Check check("soft_sort", "x", x, alpha, threads);
  check.output("sorted", sorted, x.count, x.length);
  cpu::soft_sort(x, alpha, sorted, order, threads);
}

template <class T>
void soft_sort_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx, double* galpha,
                   Order order, Threads threads) {
  const ops::Check check("soft_sort_vjp", "x", x, alpha, threads);
  check.input("g", g, x.count, x.length);
  check.optional_output("gx", gx, x.count, x.length);
  cpu::soft_sort_vjp(x, alpha, g, gx, galpha, order, threads);
}

template <class T>
void soft_sort_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> dsorted, Order order, Threads threads) {
  const ops::Check check("soft_sort_jvp", "x", x, alpha, threads);
  check.optional_input("dx", dx, x.count, x.length);
  check.output("dsorted", dsorted, x.count, x.length);
  cpu::soft_sort_jvp(x, alpha, dx, dalpha, dsorted, order, threads);
}

LAPSUM_INSTANTIATE(soft_sort)
LAPSUM_INSTANTIATE(soft_sort_vjp)
LAPSUM_INSTANTIATE(soft_sort_jvp)

}  // namespace lapsum
