#include "arrays.h"

namespace lapsum::python {
namespace {

template <class T>
void bind(nb::module_& m) {
  m.def(
      "soft_topk",
      [](const Array<const T>& x, const LevelsArgument& k, const AlphaArgument& alpha,
         const Array<T>& p, bool descending, int threads, const Optional<double>& keep) {
        const auto view = rows("x", x);
        const auto at = levels("k", k, view.count);
        const auto softness = per_row(alpha, view.count);
        const auto out = rows("p", p);
        Threshold* kept = thresholds(keep, view.count * at.count());
        const nb::gil_scoped_release release;
        soft_topk<T>(view, at, softness, out, kept, order(descending), threads);
      },
      "x"_a.noconvert(), "k"_a, "alpha"_a, "p"_a.noconvert(), "descending"_a, "threads"_a,
      "keep"_a.noconvert() = nb::none());
  m.def(
      "soft_topk_vjp",
      [](const Array<const T>& x, const LevelsArgument& k, const AlphaArgument& alpha,
         const Array<const T>& g, const Optional<T>& gx, const std::optional<Numbers>& gk,
         const std::optional<Numbers>& galpha, bool descending, int threads,
         const Optional<const double>& saved) {
        const auto view = rows("x", x);
        const auto at = levels("k", k, view.count);
        const auto softness = per_row(alpha, view.count);
        const auto given = rows("g", g);
        const auto to_x = rows("gx", gx);
        double* to_k = numbers("gk", gk, view.count * at.count());
        double* to_alpha = numbers("galpha", galpha, view.count);
        const Threshold* kept = thresholds(saved, view.count * at.count());
        const nb::gil_scoped_release release;
        soft_topk_vjp<T>(view, at, softness, kept, given, to_x, to_k, to_alpha, order(descending),
                         threads);
      },
      "x"_a.noconvert(), "k"_a, "alpha"_a, "g"_a.noconvert(), "gx"_a.noconvert().none(),
      "gk"_a.noconvert().none(), "galpha"_a.noconvert().none(), "descending"_a, "threads"_a,
      "saved"_a.noconvert() = nb::none());
  m.def(
      "soft_topk_jvp",
      [](const Array<const T>& x, const LevelsArgument& k, const AlphaArgument& alpha,
         const Optional<const T>& dx, const std::optional<ConstNumbers>& dk,
         const std::optional<ConstNumbers>& dalpha, const Array<T>& dp, bool descending,
         int threads, const Optional<const double>& saved) {
        const auto view = rows("x", x);
        const auto at = levels("k", k, view.count);
        const auto softness = per_row(alpha, view.count);
        const auto along_x = rows("dx", dx);
        const auto out = rows("dp", dp);
        const double* along_k = numbers("dk", dk, view.count * at.count());
        const double* along_alpha = numbers("dalpha", dalpha, view.count);
        const Threshold* kept = thresholds(saved, view.count * at.count());
        const nb::gil_scoped_release release;
        soft_topk_jvp<T>(view, at, softness, kept, along_x, along_k, along_alpha, out,
                         order(descending), threads);
      },
      "x"_a.noconvert(), "k"_a, "alpha"_a, "dx"_a.noconvert().none(), "dk"_a.noconvert().none(),
      "dalpha"_a.noconvert().none(), "dp"_a.noconvert(), "descending"_a, "threads"_a,
      "saved"_a.noconvert() = nb::none());
}

}  // namespace

void bind_soft_topk(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace lapsum::python
