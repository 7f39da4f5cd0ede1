// Operations of one signature whose elements have weights share one binding, as in families.h.
#pragma once

#include "families.h"

namespace lapsum::python {

/// weighted_soft_topk and weighted_log_soft_topk: rows, weights, levels and alpha to masks.
template <class T>
void bind_weighted_mask(nb::module_& m, const std::string& name,
                        decltype(weighted_soft_topk<T>)* value,
                        decltype(weighted_soft_topk_vjp<T>)* vjp,
                        decltype(weighted_soft_topk_jvp<T>)* jvp) {
  m.def(
      name.c_str(),
      [=](const Array<const T>& x, const Array<const T>& weights, const LevelsArgument& k,
          const AlphaArgument& alpha, const Array<T>& out, bool descending, int threads,
          const Optional<double>& keep, const Lengths& lengths) {
        const auto row = rows("x", x, lengths);
        const auto w = rows("weights", weights);
        const auto at = levels("k", k, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto to = rows("out", out);
        Threshold* kept = thresholds(keep, row.count * at.count());
        const nb::gil_scoped_release release;
        value(row, w, at, softness, to, kept, order(descending), threads);
      },
      "x"_a.noconvert(), "weights"_a.noconvert(), "k"_a, "alpha"_a, "out"_a.noconvert(),
      "descending"_a, "threads"_a, "keep"_a.noconvert() = nb::none(),
      "lengths"_a.noconvert() = nb::none());
  m.def((name + "_vjp").c_str(),
        [=](const Array<const T>& x, const Array<const T>& weights, const LevelsArgument& k,
            const AlphaArgument& alpha, const Array<const T>& g, const Optional<T>& gx,
            const Optional<T>& gweights, const std::optional<Numbers>& gk,
            const std::optional<Numbers>& galpha, bool descending, int threads,
            const Optional<const double>& saved, const Lengths& lengths) {
          const auto row = rows("x", x, lengths);
          const auto w = rows("weights", weights);
          const auto at = levels("k", k, row.count);
          const auto softness = per_row(alpha, row.count);
          const auto given = rows("g", g);
          const auto to_x = rows("gx", gx);
          const auto to_w = rows("gweights", gweights);
          double* to_k = numbers("gk", gk, row.count * at.count());
          double* to_alpha = numbers("galpha", galpha, row.count);
          const Threshold* kept = thresholds(saved, row.count * at.count());
          const nb::gil_scoped_release release;
          vjp(row, w, at, softness, kept, given, to_x, to_w, to_k, to_alpha, order(descending),
              threads);
        },
        "x"_a.noconvert(), "weights"_a.noconvert(), "k"_a, "alpha"_a, "g"_a.noconvert(),
        "gx"_a.noconvert().none(), "gweights"_a.noconvert().none(), "gk"_a.noconvert().none(),
        "galpha"_a.noconvert().none(), "descending"_a, "threads"_a,
        "saved"_a.noconvert() = nb::none(), "lengths"_a.noconvert() = nb::none());
  m.def((name + "_jvp").c_str(),
        [=](const Array<const T>& x, const Array<const T>& weights, const LevelsArgument& k,
            const AlphaArgument& alpha, const Optional<const T>& dx,
            const Optional<const T>& dweights, const std::optional<ConstNumbers>& dk,
            const std::optional<ConstNumbers>& dalpha, const Array<T>& dout, bool descending,
            int threads, const Optional<const double>& saved, const Lengths& lengths) {
          const auto row = rows("x", x, lengths);
          const auto w = rows("weights", weights);
          const auto at = levels("k", k, row.count);
          const auto softness = per_row(alpha, row.count);
          const auto along_x = rows("dx", dx);
          const auto along_w = rows("dweights", dweights);
          const double* along_k = numbers("dk", dk, row.count * at.count());
          const double* along_alpha = numbers("dalpha", dalpha, row.count);
          const auto to = rows("dout", dout);
          const Threshold* kept = thresholds(saved, row.count * at.count());
          const nb::gil_scoped_release release;
          jvp(row, w, at, softness, kept, along_x, along_w, along_k, along_alpha, to,
              order(descending), threads);
        },
        "x"_a.noconvert(), "weights"_a.noconvert(), "k"_a, "alpha"_a, "dx"_a.noconvert().none(),
        "dweights"_a.noconvert().none(), "dk"_a.noconvert().none(), "dalpha"_a.noconvert().none(),
        "dout"_a.noconvert(), "descending"_a, "threads"_a, "saved"_a.noconvert() = nb::none(),
        "lengths"_a.noconvert() = nb::none());
}

/// weighted_lap_sum_inverse, weighted_soft_quantile and, with an order, weighted_soft_kth_value.
template <class T, class... Orders>
void bind_weighted_inverse(nb::module_& m, const std::string& name,
                           void (*value)(Rows<const T>, Rows<const T>, Levels, PerRow, Rows<T>,
                                         Orders..., Threads),
                           void (*vjp)(Rows<const T>, Rows<const T>, Levels, PerRow, Rows<const T>,
                                       Rows<T>, Rows<T>, double*, double*, Orders..., Threads),
                           void (*jvp)(Rows<const T>, Rows<const T>, Levels, PerRow, Rows<const T>,
                                       Rows<const T>, const double*, const double*, Rows<T>,
                                       Orders..., Threads)) {
  m.def(
      name.c_str(),
      [=](const Array<const T>& r, const Array<const T>& weights, const LevelsArgument& k,
          const AlphaArgument& alpha, const Array<T>& out, Flag<Orders>... descending, int threads,
          const Lengths& lengths) {
        const auto row = rows("r", r, lengths);
        const auto w = rows("weights", weights);
        const auto at = levels("k", k, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto to = rows("out", out);
        const nb::gil_scoped_release release;
        value(row, w, at, softness, to, order(descending)..., threads);
      },
      "r"_a.noconvert(), "weights"_a.noconvert(), "k"_a, "alpha"_a, "out"_a.noconvert(),
      nb::arg(kFlag<Orders>)..., "threads"_a, "lengths"_a.noconvert() = nb::none());
  m.def((name + "_vjp").c_str(),
        [=](const Array<const T>& r, const Array<const T>& weights, const LevelsArgument& k,
            const AlphaArgument& alpha, const Array<const T>& g, const Optional<T>& gr,
            const Optional<T>& gweights, const std::optional<Numbers>& gk,
            const std::optional<Numbers>& galpha, Flag<Orders>... descending, int threads,
            const Lengths& lengths) {
          const auto row = rows("r", r, lengths);
          const auto w = rows("weights", weights);
          const auto at = levels("k", k, row.count);
          const auto softness = per_row(alpha, row.count);
          const auto given = rows("g", g);
          const auto to_r = rows("gr", gr);
          const auto to_w = rows("gweights", gweights);
          double* to_k = numbers("gk", gk, row.count * at.count());
          double* to_alpha = numbers("galpha", galpha, row.count);
          const nb::gil_scoped_release release;
          vjp(row, w, at, softness, given, to_r, to_w, to_k, to_alpha, order(descending)...,
              threads);
        },
        "r"_a.noconvert(), "weights"_a.noconvert(), "k"_a, "alpha"_a, "g"_a.noconvert(),
        "gr"_a.noconvert().none(), "gweights"_a.noconvert().none(), "gk"_a.noconvert().none(),
        "galpha"_a.noconvert().none(), nb::arg(kFlag<Orders>)..., "threads"_a,
        "lengths"_a.noconvert() = nb::none());
  m.def((name + "_jvp").c_str(),
        [=](const Array<const T>& r, const Array<const T>& weights, const LevelsArgument& k,
            const AlphaArgument& alpha, const Optional<const T>& dr,
            const Optional<const T>& dweights, const std::optional<ConstNumbers>& dk,
            const std::optional<ConstNumbers>& dalpha, const Array<T>& dout,
            Flag<Orders>... descending, int threads, const Lengths& lengths) {
          const auto row = rows("r", r, lengths);
          const auto w = rows("weights", weights);
          const auto at = levels("k", k, row.count);
          const auto softness = per_row(alpha, row.count);
          const auto along_r = rows("dr", dr);
          const auto along_w = rows("dweights", dweights);
          const double* along_k = numbers("dk", dk, row.count * at.count());
          const double* along_alpha = numbers("dalpha", dalpha, row.count);
          const auto to = rows("dout", dout);
          const nb::gil_scoped_release release;
          jvp(row, w, at, softness, along_r, along_w, along_k, along_alpha, to,
              order(descending)..., threads);
        },
        "r"_a.noconvert(), "weights"_a.noconvert(), "k"_a, "alpha"_a, "dr"_a.noconvert().none(),
        "dweights"_a.noconvert().none(), "dk"_a.noconvert().none(), "dalpha"_a.noconvert().none(),
        "dout"_a.noconvert(), nb::arg(kFlag<Orders>)..., "threads"_a,
        "lengths"_a.noconvert() = nb::none());
}

/// weighted_soft_rank: rows, weights and alpha to an array.
template <class T>
void bind_weighted_ordered(nb::module_& m, const std::string& name,
                           decltype(weighted_soft_rank<T>)* value,
                           decltype(weighted_soft_rank_vjp<T>)* vjp,
                           decltype(weighted_soft_rank_jvp<T>)* jvp) {
  m.def(
      name.c_str(),
      [=](const Array<const T>& x, const Array<const T>& weights, const AlphaArgument& alpha,
          const Array<T>& out, bool descending, int threads, const Lengths& lengths) {
        const auto row = rows("x", x, lengths);
        const auto w = rows("weights", weights);
        const auto softness = per_row(alpha, row.count);
        const auto to = rows("out", out);
        const nb::gil_scoped_release release;
        value(row, w, softness, to, order(descending), threads);
      },
      "x"_a.noconvert(), "weights"_a.noconvert(), "alpha"_a, "out"_a.noconvert(), "descending"_a,
      "threads"_a, "lengths"_a.noconvert() = nb::none());
  m.def((name + "_vjp").c_str(),
        [=](const Array<const T>& x, const Array<const T>& weights, const AlphaArgument& alpha,
            const Array<const T>& g, const Optional<T>& gx, const Optional<T>& gweights,
            const std::optional<Numbers>& galpha, bool descending, int threads,
            const Lengths& lengths) {
          const auto row = rows("x", x, lengths);
          const auto w = rows("weights", weights);
          const auto softness = per_row(alpha, row.count);
          const auto given = rows("g", g);
          const auto to_x = rows("gx", gx);
          const auto to_w = rows("gweights", gweights);
          double* to_alpha = numbers("galpha", galpha, row.count);
          const nb::gil_scoped_release release;
          vjp(row, w, softness, given, to_x, to_w, to_alpha, order(descending), threads);
        },
        "x"_a.noconvert(), "weights"_a.noconvert(), "alpha"_a, "g"_a.noconvert(),
        "gx"_a.noconvert().none(), "gweights"_a.noconvert().none(), "galpha"_a.noconvert().none(),
        "descending"_a, "threads"_a, "lengths"_a.noconvert() = nb::none());
  m.def((name + "_jvp").c_str(),
        [=](const Array<const T>& x, const Array<const T>& weights, const AlphaArgument& alpha,
            const Optional<const T>& dx, const Optional<const T>& dweights,
            const std::optional<ConstNumbers>& dalpha, const Array<T>& dout, bool descending,
            int threads, const Lengths& lengths) {
          const auto row = rows("x", x, lengths);
          const auto w = rows("weights", weights);
          const auto softness = per_row(alpha, row.count);
          const auto along_x = rows("dx", dx);
          const auto along_w = rows("dweights", dweights);
          const double* along_alpha = numbers("dalpha", dalpha, row.count);
          const auto to = rows("dout", dout);
          const nb::gil_scoped_release release;
          jvp(row, w, softness, along_x, along_w, along_alpha, to, order(descending), threads);
        },
        "x"_a.noconvert(), "weights"_a.noconvert(), "alpha"_a, "dx"_a.noconvert().none(),
        "dweights"_a.noconvert().none(), "dalpha"_a.noconvert().none(), "dout"_a.noconvert(),
        "descending"_a, "threads"_a, "lengths"_a.noconvert() = nb::none());
}

}  // namespace lapsum::python
