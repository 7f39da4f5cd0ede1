#include "arrays.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  m.def(
      "soft_quantile",
      [](const Array<const T>& x, const LevelsArgument& q, const AlphaArgument& alpha,
         const Array<T>& b, int threads) {
        const auto row = rows("x", x);
        const auto at = levels("q", q, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto out = rows("b", b);
        const nb::gil_scoped_release release;
        soft_quantile<T>(row, at, softness, out, threads);
      },
      "x"_a.noconvert(), "q"_a, "alpha"_a, "b"_a.noconvert(), "threads"_a);
  m.def(
      "soft_quantile_vjp",
      [](const Array<const T>& x, const LevelsArgument& q, const AlphaArgument& alpha,
         const Array<const T>& g, const Optional<T>& gx, const std::optional<Numbers>& gq,
         const std::optional<Numbers>& galpha, int threads) {
        const auto row = rows("x", x);
        const auto at = levels("q", q, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto given = rows("g", g);
        const auto to_row = rows("gx", gx);
        double* to_level = numbers("gq", gq, row.count * at.count());
        double* to_alpha = numbers("galpha", galpha, row.count);
        const nb::gil_scoped_release release;
        soft_quantile_vjp<T>(row, at, softness, given, to_row, to_level, to_alpha, threads);
      },
      "x"_a.noconvert(), "q"_a, "alpha"_a, "g"_a.noconvert(), "gx"_a.noconvert().none(),
      "gq"_a.noconvert().none(), "galpha"_a.noconvert().none(), "threads"_a);
  m.def(
      "soft_quantile_jvp",
      [](const Array<const T>& x, const LevelsArgument& q, const AlphaArgument& alpha,
         const Optional<const T>& dx, const std::optional<ConstNumbers>& dq,
         const std::optional<ConstNumbers>& dalpha, const Array<T>& db, int threads) {
        const auto row = rows("x", x);
        const auto at = levels("q", q, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto along_row = rows("dx", dx);
        const double* along_level = numbers("dq", dq, row.count * at.count());
        const double* along_alpha = numbers("dalpha", dalpha, row.count);
        const auto out = rows("db", db);
        const nb::gil_scoped_release release;
        soft_quantile_jvp<T>(row, at, softness, along_row, along_level, along_alpha, out, threads);
      },
      "x"_a.noconvert(), "q"_a, "alpha"_a, "dx"_a.noconvert().none(), "dq"_a.noconvert().none(),
      "dalpha"_a.noconvert().none(), "db"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_soft_quantile(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
