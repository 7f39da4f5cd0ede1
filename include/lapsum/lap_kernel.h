// The closed set that all derivatives of all orders are made of: weighted sums of Laplace kernels.
#pragma once

#include "lapsum/rows.h"

namespace lapsum {

/// phi(z) of a kernel sum: `cdf` is F(z); `even` is |z|^order e^-|z|; `odd` is that times sign(z).
/// With z = (x - r) / alpha the set is closed under differentiation:
///   F' = even0 / 2,  (even_p)' = p odd_{p-1} - odd_p,  (odd_p)' = p even_{p-1} - even_p,
///   d/dalpha phi(z) = -z phi'(z) / alpha,  z even_p = odd_{p+1},  z odd_p = even_{p+1}.
/// odd0 jumps at z = 0 and counts 0 there.
struct Kernel {
  enum class Shape { cdf, even, odd };
  Shape shape = Shape::even;
  int order = 0;  ///< 0 to kMaxOrder; 0 for cdf

  static constexpr int kMaxOrder = 3;
};

/// y[t] = sum_i w[i] phi((x[t] - r[i]) / alpha): m points per row, signed alpha, any weights.
/// O((n + m) log(n + m)). Infinite elements and points contribute limits, 0 for even and odd. NaN in
/// r, or an alpha of 0, NaN or infinity, makes the row NaN. r, w: rows x n; x, y: rows x m.
/// Its derivatives are lap_kernel again: the gradient in w is lap_kernel(x, g, r) with -alpha, those
/// in x, r and alpha follow from Kernel's rules.
template <class T>
void lap_kernel(Rows<const T> r, Rows<const T> w, Rows<const T> x, PerRow alpha, Kernel kernel,
                Rows<T> y, Threads threads = 0);

}  // namespace lapsum
