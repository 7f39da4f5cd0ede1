#include <nanobind/stl/string.h>

#include "arrays.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  m.def(
      "lap_kernel",
      [](const Array<const T>& r, const Array<const T>& w, const Array<const T>& x,
         const AlphaArgument& alpha, const Array<T>& y, const std::string& shape, int order,
         int threads, const Lengths& lengths) {
        const auto row = rows("r", r, lengths);
        const auto weights = rows("w", w);
        const auto at = rows("x", x);
        const auto softness = per_row(alpha, row.count);
        const auto out = rows("y", y);
        const Kernel kernel{kernel_shape(shape), order};
        const nb::gil_scoped_release release;
        lap_kernel<T>(row, weights, at, softness, kernel, out, threads);
      },
      "r"_a.noconvert(), "w"_a.noconvert(), "x"_a.noconvert(), "alpha"_a, "y"_a.noconvert(),
      "shape"_a, "order"_a, "threads"_a, "lengths"_a.noconvert() = nb::none());
}

}  // namespace

void bind_lap_kernel(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
