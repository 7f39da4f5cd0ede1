// The kernel sums of a sorted row at points, whole rows in, whole rows out.
#include "cuda/lap_kernel.h"

#include "cuda/instantiate.h"
#include "cuda/primitives/kernel_sums.h"
#include "cuda/primitives/slabs.h"

namespace lapsum::gpu {
namespace {

template <class T>
void value(Queue& queue, Rows<const T> r, Rows<const T> w, Rows<const T> x, const PerRow& alpha,
           Kernel kernel, Rows<T> y) {
  for_each_slab(queue, r.count, std::max(r.length, x.length), [&](const Slab& slab) {
    const SortedRows sorted = sort_rows(queue, slab.of(r), slab.of(alpha), Order::ascending);
    const double* const weights = in_order(queue, sorted, load(queue, slab.of(w)));
    const double* const at = load(queue, slab.of(x), slab.of(alpha), Order::ascending);
    double* const sums = queue.take<double>(slab.count * x.length);
    kernel_sums(queue, sorted, weights, at, x.length, kernel, sums);
    store(queue, sums, slab.of(y));
  });
}

}  // namespace

std::size_t lap_kernel_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m) {
  Queue counting;
  for (const auto shape : {Kernel::Shape::cdf, Kernel::Shape::odd}) {
    for (int order = 0; order <= (shape == Kernel::Shape::cdf ? 0 : Kernel::kMaxOrder); ++order) {
      value(counting, some_rows<const double>(rows, n), some_rows<const double>(rows, n),
            some_rows<const double>(rows, m), 1, {shape, order}, some_rows<double>(rows, m));
    }
  }
  return counting.most();
}

template <class T>
void lap_kernel(Rows<const T> r, Rows<const T> w, Rows<const T> x, const PerRow& alpha,
                Kernel kernel, Rows<T> y, const cuda::Launch& where) {
  Queue queue(where);
  value(queue, r, w, x, alpha, kernel, y);
}

LAPSUM_INSTANTIATE_CUDA(lap_kernel)

}  // namespace lapsum::gpu
