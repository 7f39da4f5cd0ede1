// Checks arguments, then runs on the device that holds them.
#include "lapsum/lap_kernel.h"

#include "cpu/lap_kernel.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {

template <class T>
void lap_kernel(Rows<const T> r, Rows<const T> w, Rows<const T> x, PerRow alpha, Kernel kernel,
                Rows<T> y, Threads threads) {
  const ops::Check check("lap_kernel", "r", r, alpha, threads);
  check.input("w", w, r.count, r.length);
  check.input("x", x, r.count, x.length);
  check.sortable("x", x.length);
  check.range("order", kernel.order, 0, kernel.shape == Kernel::Shape::cdf ? 0 : Kernel::kMaxOrder);
  check.output("y", y, r.count, x.length);
  ops::for_each_run(r, threads, [&](const ops::Run& run, Threads inner) {
    cpu::lap_kernel(run.elements(r), run.elements(w), run.points(x), run.numbers(alpha), kernel,
                    run.points(y), inner);
  });
}

LAPSUM_INSTANTIATE(lap_kernel)

}  // namespace lapsum
