// The soft permutation without its matrix on the CPU; contracts as in lapsum/soft_permute.h,
// arguments already checked.
#pragma once

#include "lapsum/soft_permute.h"

namespace lapsum::cpu {

template <class T>
void soft_permute(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                  const PerRow& alpha, Rows<T> out, Apply apply, Order order, Threads threads);

template <class T>
void soft_permute_vjp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                      const PerRow& alpha, Rows<const T> g, Rows<T> gx, Rows<T> gvalues,
                      double* galpha, Apply apply, Order order, Threads threads);

template <class T>
void soft_permute_jvp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                      const PerRow& alpha, Rows<const T> dx, Rows<const T> dvalues,
                      const double* dalpha, Rows<T> dout, Apply apply, Order order,
                      Threads threads);

}  // namespace lapsum::cpu
