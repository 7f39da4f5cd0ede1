// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_permutation.h"

#include "cpu/soft_permutation.h"
#include "instantiate.h"
#include "ops/check.h"

namespace lapsum {

template <class T>
void soft_permutation(Rows<const T> x, PerRow alpha, Rows<T> matrix, Order order, Threads threads) {
  const ops::Check check("soft_permutation", "x", x, alpha, threads);
  check.output("matrix", matrix, x.count, x.length * x.length);
  cpu::soft_permutation(x, alpha, matrix, order, threads);
}

template <class T>
void soft_permutation_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx,
                          double* galpha, Order order, Threads threads) {
  const ops::Check check("soft_permutation_vjp", "x", x, alpha, threads);
  check.input("g", g, x.count, x.length * x.length);
  check.optional_output("gx", gx, x.count, x.length);
  cpu::soft_permutation_vjp(x, alpha, g, gx, galpha, order, threads);
}

template <class T>
void soft_permutation_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                          Rows<T> dmatrix, Order order, Threads threads) {
  const ops::Check check("soft_permutation_jvp", "x", x, alpha, threads);
  check.optional_input("dx", dx, x.count, x.length);
  check.output("dmatrix", dmatrix, x.count, x.length * x.length);
  cpu::soft_permutation_jvp(x, alpha, dx, dalpha, dmatrix, order, threads);
}

LAPSUM_INSTANTIATE(soft_permutation)
LAPSUM_INSTANTIATE(soft_permutation_vjp)
LAPSUM_INSTANTIATE(soft_permutation_jvp)

}  // namespace lapsum
