#include "arrays.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  m.def(
      "lap_sum",
      [](const Array<const T>& r, const Array<const T>& x, const AlphaArgument& alpha,
         const Array<T>& y, int threads, const Lengths& lengths) {
        const auto row = rows("r", r, lengths);
        const auto at = rows("x", x);
        const auto softness = per_row(alpha, row.count);
        const auto out = rows("y", y);
        const nb::gil_scoped_release release;
        lap_sum<T>(row, at, softness, out, threads);
      },
      "r"_a.noconvert(), "x"_a.noconvert(), "alpha"_a, "y"_a.noconvert(), "threads"_a,
      "lengths"_a.noconvert() = nb::none());
  m.def(
      "lap_sum_vjp",
      [](const Array<const T>& r, const Array<const T>& x, const AlphaArgument& alpha,
         const Array<const T>& g, const Optional<T>& gr, const Optional<T>& gx,
         const std::optional<Numbers>& galpha, int threads, const Lengths& lengths) {
        const auto row = rows("r", r, lengths);
        const auto at = rows("x", x);
        const auto softness = per_row(alpha, row.count);
        const auto given = rows("g", g);
        const auto to_r = rows("gr", gr);
        const auto to_x = rows("gx", gx);
        double* to_alpha = numbers("galpha", galpha, row.count);
        const nb::gil_scoped_release release;
        lap_sum_vjp<T>(row, at, softness, given, to_r, to_x, to_alpha, threads);
      },
      "r"_a.noconvert(), "x"_a.noconvert(), "alpha"_a, "g"_a.noconvert(), "gr"_a.noconvert().none(),
      "gx"_a.noconvert().none(), "galpha"_a.noconvert().none(), "threads"_a,
      "lengths"_a.noconvert() = nb::none());
  m.def(
      "lap_sum_jvp",
      [](const Array<const T>& r, const Array<const T>& x, const AlphaArgument& alpha,
         const Optional<const T>& dr, const Optional<const T>& dx,
         const std::optional<ConstNumbers>& dalpha, const Array<T>& dy, int threads,
         const Lengths& lengths) {
        const auto row = rows("r", r, lengths);
        const auto at = rows("x", x);
        const auto softness = per_row(alpha, row.count);
        const auto along_r = rows("dr", dr);
        const auto along_x = rows("dx", dx);
        const double* along_alpha = numbers("dalpha", dalpha, row.count);
        const auto out = rows("dy", dy);
        const nb::gil_scoped_release release;
        lap_sum_jvp<T>(row, at, softness, along_r, along_x, along_alpha, out, threads);
      },
      "r"_a.noconvert(), "x"_a.noconvert(), "alpha"_a, "dr"_a.noconvert().none(),
      "dx"_a.noconvert().none(), "dalpha"_a.noconvert().none(), "dy"_a.noconvert(), "threads"_a,
      "lengths"_a.noconvert() = nb::none());
}

}  // namespace

void bind_lap_sum(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
