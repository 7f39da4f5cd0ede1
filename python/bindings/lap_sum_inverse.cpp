#include "arrays.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  m.def(
      "lap_sum_inverse",
      [](const Array<const T>& r, const LevelsArgument& k, const AlphaArgument& alpha,
         const Array<T>& b, int threads) {
        const auto row = rows("r", r);
        const auto at = levels("k", k, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto out = rows("b", b);
        const nb::gil_scoped_release release;
        lap_sum_inverse<T>(row, at, softness, out, threads);
      },
      "r"_a.noconvert(), "k"_a, "alpha"_a, "b"_a.noconvert(), "threads"_a);
  m.def(
      "lap_sum_inverse_vjp",
      [](const Array<const T>& r, const LevelsArgument& k, const AlphaArgument& alpha,
         const Array<const T>& g, const Optional<T>& gr, const std::optional<Numbers>& gk,
         const std::optional<Numbers>& galpha, int threads) {
        const auto row = rows("r", r);
        const auto at = levels("k", k, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto given = rows("g", g);
        const auto to_row = rows("gr", gr);
        double* to_level = numbers("gk", gk, row.count * at.count());
        double* to_alpha = numbers("galpha", galpha, row.count);
        const nb::gil_scoped_release release;
        lap_sum_inverse_vjp<T>(row, at, softness, given, to_row, to_level, to_alpha, threads);
      },
      "r"_a.noconvert(), "k"_a, "alpha"_a, "g"_a.noconvert(), "gr"_a.noconvert().none(),
      "gk"_a.noconvert().none(), "galpha"_a.noconvert().none(), "threads"_a);
  m.def(
      "lap_sum_inverse_jvp",
      [](const Array<const T>& r, const LevelsArgument& k, const AlphaArgument& alpha,
         const Optional<const T>& dr, const std::optional<ConstNumbers>& dk,
         const std::optional<ConstNumbers>& dalpha, const Array<T>& db, int threads) {
        const auto row = rows("r", r);
        const auto at = levels("k", k, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto along_row = rows("dr", dr);
        const double* along_level = numbers("dk", dk, row.count * at.count());
        const double* along_alpha = numbers("dalpha", dalpha, row.count);
        const auto out = rows("db", db);
        const nb::gil_scoped_release release;
        lap_sum_inverse_jvp<T>(row, at, softness, along_row, along_level, along_alpha, out,
                               threads);
      },
      "r"_a.noconvert(), "k"_a, "alpha"_a, "dr"_a.noconvert().none(), "dk"_a.noconvert().none(),
      "dalpha"_a.noconvert().none(), "db"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_lap_sum_inverse(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
