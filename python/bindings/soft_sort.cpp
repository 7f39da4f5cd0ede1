#include "arrays.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  m.def(
      "soft_sort",
      [](const Array<const T>& x, const AlphaArgument& alpha, const Array<T>& sorted,
         bool descending, int threads) {
        const auto view = rows("x", x);
        const auto softness = per_row(alpha, view.count);
        const auto to = rows("sorted", sorted);
        const nb::gil_scoped_release release;
        soft_sort<T>(view, softness, to, order(descending), threads);
      },
      "x"_a.noconvert(), "alpha"_a, "sorted"_a.noconvert(), "descending"_a, "threads"_a);
  m.def(
      "soft_sort_vjp",
      [](const Array<const T>& x, const AlphaArgument& alpha, const Array<const T>& g,
         const Optional<T>& gx, const std::optional<Numbers>& galpha, bool descending,
         int threads) {
        const auto view = rows("x", x);
        const auto softness = per_row(alpha, view.count);
        const auto given = rows("g", g);
        const auto to_x = rows("gx", gx);
        double* to_alpha = numbers("galpha", galpha, view.count);
        const nb::gil_scoped_release release;
        soft_sort_vjp<T>(view, softness, given, to_x, to_alpha, order(descending), threads);
      },
      "x"_a.noconvert(), "alpha"_a, "g"_a.noconvert(), "gx"_a.noconvert().none(),
      "galpha"_a.noconvert().none(), "descending"_a, "threads"_a);
  m.def(
      "soft_sort_jvp",
      [](const Array<const T>& x, const AlphaArgument& alpha, const Optional<const T>& dx,
         const std::optional<ConstNumbers>& dalpha, const Array<T>& dsorted, bool descending,
         int threads) {
        const auto view = rows("x", x);
        const auto softness = per_row(alpha, view.count);
        const auto along_x = rows("dx", dx);
        const double* along_alpha = numbers("dalpha", dalpha, view.count);
        const auto to = rows("dsorted", dsorted);
        const nb::gil_scoped_release release;
        soft_sort_jvp<T>(view, softness, along_x, along_alpha, to, order(descending), threads);
      },
      "x"_a.noconvert(), "alpha"_a, "dx"_a.noconvert().none(), "dalpha"_a.noconvert().none(),
      "dsorted"_a.noconvert(), "descending"_a, "threads"_a);
}

}  // namespace

void bind_soft_sort(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
