// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_kth_value.h"

#include "cpu/lap_sum_inverse.h"
#include "instantiate.h"
#include "ops/check.h"

namespace lapsum {

template <class T>
void soft_kth_value(Rows<const T> x, Levels k, PerRow alpha, Rows<T> b, Order order,
                    Threads threads) {
  const ops::Check check("soft_kth_value", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.output("b", b, x.count, k.count());
  cpu::lap_sum_inverse(x, k, alpha, b, order, threads);
}

template <class T>
void soft_kth_value_vjp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> g, Rows<T> gx,
                        double* gk, double* galpha, Order order, Threads threads) {
  const ops::Check check("soft_kth_value_vjp", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.input("g", g, x.count, k.count());
  check.optional_output("gx", gx, x.count, x.length);
  cpu::lap_sum_inverse_vjp(x, k, alpha, g, gx, gk, galpha, order, threads);
}

template <class T>
void soft_kth_value_jvp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> dx, const double* dk,
                        const double* dalpha, Rows<T> db, Order order, Threads threads) {
  const ops::Check check("soft_kth_value_jvp", "x", x, alpha, threads);
  check.level("k", k, x.count, static_cast<double>(x.length), "n");
  check.optional_input("dx", dx, x.count, x.length);
  check.output("db", db, x.count, k.count());
  cpu::lap_sum_inverse_jvp(x, k, alpha, dx, dk, dalpha, db, order, threads);
}

LAPSUM_INSTANTIATE(soft_kth_value)
LAPSUM_INSTANTIATE(soft_kth_value_vjp)
LAPSUM_INSTANTIATE(soft_kth_value_jvp)

}  // namespace lapsum
