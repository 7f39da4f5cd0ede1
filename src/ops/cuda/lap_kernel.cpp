// Checks arguments, then queues the work on a GPU.
#include "lapsum/cuda/lap_kernel.h"

#include "cuda/instantiate.h"
#include "cuda/lap_kernel.h"
#include "ops/check.h"

namespace lapsum::cuda {

std::size_t lap_kernel_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  return gpu::lap_kernel_workspace(rows, n, m);
}

template <class T>
void lap_kernel(Rows<const T> r, Rows<const T> w, Rows<const T> x, PerRow alpha, Kernel kernel,
                Rows<T> y, const Launch& where) {
  const ops::Check check("lap_kernel", "r", r, alpha, where);
  check.input("w", w, r.count, r.length);
  check.input("x", x, r.count, x.length);
  check.sortable("x", x.length);
  check.range("order", kernel.order, 0, kernel.shape == Kernel::Shape::cdf ? 0 : Kernel::kMaxOrder);
  check.output("y", y, r.count, x.length);
  check.workspace(where, gpu::lap_kernel_workspace(r.count, r.length, x.length));
  gpu::lap_kernel(r, w, x, alpha, kernel, y, where);
}

LAPSUM_INSTANTIATE_CUDA(lap_kernel)

}  // namespace lapsum::cuda
