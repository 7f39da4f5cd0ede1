// The soft permutation without its matrix on a GPU; contracts as in lapsum/cuda/soft_permute.h,
// arguments already checked.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/soft_permute.h"

namespace lapsum::gpu {

std::size_t soft_permute_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t columns);

template <class T>
void soft_permute(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                  const PerRow& alpha, Rows<T> out, Apply apply, Order order,
                  const cuda::Launch& where);

template <class T>
void soft_permute_vjp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                      const PerRow& alpha, Rows<const T> g, Rows<T> gx, Rows<T> gvalues,
                      double* galpha, Apply apply, Order order, const cuda::Launch& where);

template <class T>
void soft_permute_jvp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns,
                      const PerRow& alpha, Rows<const T> dx, Rows<const T> dvalues,
                      const double* dalpha, Rows<T> dout, Apply apply, Order order,
                      const cuda::Launch& where);

}  // namespace lapsum::gpu
