// Operations of one signature share one binding, given the functions of the C++ library.
#pragma once

#include "arrays.h"

namespace lapsum::python {

/// What an operation that sorts keeps for its derivatives, and how it is called on the way out and
/// on the way back; others have neither.
template <class Argsort>
using Kept = std::optional<Array<std::remove_pointer_t<decltype(Argsort::data)>>>;
template <class>
inline constexpr const char* kKept = "saved";
template <>
inline constexpr const char* kKept<Rows<std::uint32_t>> = "keep";

/// soft_permutation and, with argsorts, soft_rank and soft_sort: a row and alpha to an array.
template <class T, class... Keep, class... Saved>
void bind_ordered(nb::module_& m, const std::string& name,
                  void (*value)(Rows<const T>, PerRow, Rows<T>, Order, Threads, Keep...),
                  void (*vjp)(Rows<const T>, PerRow, Rows<const T>, Rows<T>, double*, Order,
                              Threads, Saved...),
                  void (*jvp)(Rows<const T>, PerRow, Rows<const T>, const double*, Rows<T>, Order,
                              Threads, Saved...)) {
  m.def(
      name.c_str(),
      [=](const Array<const T>& x, const AlphaArgument& alpha, const Array<T>& out, bool descending,
          int threads, const Kept<Keep>&... keep, const Lengths& lengths) {
        const auto row = rows("x", x, lengths);
        const auto softness = per_row(alpha, row.count);
        const auto to = rows("out", out);
        const nb::gil_scoped_release release;
        value(row, softness, to, order(descending), threads, rows(kKept<Keep>, keep)...);
      },
      "x"_a.noconvert(), "alpha"_a, "out"_a.noconvert(), "descending"_a, "threads"_a,
      (nb::arg(kKept<Keep>).noconvert() = nb::none())..., "lengths"_a.noconvert() = nb::none());
  m.def((name + "_vjp").c_str(),
        [=](const Array<const T>& x, const AlphaArgument& alpha, const Array<const T>& g,
            const Optional<T>& gx, const std::optional<Numbers>& galpha, bool descending,
            int threads, const Kept<Saved>&... saved, const Lengths& lengths) {
          const auto row = rows("x", x, lengths);
          const auto softness = per_row(alpha, row.count);
          const auto given = rows("g", g);
          const auto to_x = rows("gx", gx);
          double* to_alpha = numbers("galpha", galpha, row.count);
          const nb::gil_scoped_release release;
          vjp(row, softness, given, to_x, to_alpha, order(descending), threads,
              rows(kKept<Saved>, saved)...);
        },
        "x"_a.noconvert(), "alpha"_a, "g"_a.noconvert(), "gx"_a.noconvert().none(),
        "galpha"_a.noconvert().none(), "descending"_a, "threads"_a,
        (nb::arg(kKept<Saved>).noconvert() = nb::none())..., "lengths"_a.noconvert() = nb::none());
  m.def((name + "_jvp").c_str(),
        [=](const Array<const T>& x, const AlphaArgument& alpha, const Optional<const T>& dx,
            const std::optional<ConstNumbers>& dalpha, const Array<T>& dout, bool descending,
            int threads, const Kept<Saved>&... saved, const Lengths& lengths) {
          const auto row = rows("x", x, lengths);
          const auto softness = per_row(alpha, row.count);
          const auto along_x = rows("dx", dx);
          const double* along_alpha = numbers("dalpha", dalpha, row.count);
          const auto to = rows("dout", dout);
          const nb::gil_scoped_release release;
          jvp(row, softness, along_x, along_alpha, to, order(descending), threads,
              rows(kKept<Saved>, saved)...);
        },
        "x"_a.noconvert(), "alpha"_a, "dx"_a.noconvert().none(), "dalpha"_a.noconvert().none(),
        "dout"_a.noconvert(), "descending"_a, "threads"_a,
        (nb::arg(kKept<Saved>).noconvert() = nb::none())..., "lengths"_a.noconvert() = nb::none());
}

/// soft_topk and log_soft_topk: a row, levels and alpha to masks. `keep` receives thresholds that
/// `saved` gives back.
template <class T>
void bind_mask(nb::module_& m, const std::string& name, decltype(soft_topk<T>)* value,
               decltype(soft_topk_vjp<T>)* vjp, decltype(soft_topk_jvp<T>)* jvp) {
  m.def(
      name.c_str(),
      [=](const Array<const T>& x, const LevelsArgument& k, const AlphaArgument& alpha,
          const Array<T>& out, bool descending, int threads, const Optional<double>& keep,
          const Lengths& lengths) {
        const auto row = rows("x", x, lengths);
        const auto at = levels("k", k, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto to = rows("out", out);
        Threshold* kept = thresholds(keep, row.count * at.count());
        const nb::gil_scoped_release release;
        value(row, at, softness, to, kept, order(descending), threads);
      },
      "x"_a.noconvert(), "k"_a, "alpha"_a, "out"_a.noconvert(), "descending"_a, "threads"_a,
      "keep"_a.noconvert() = nb::none(), "lengths"_a.noconvert() = nb::none());
  m.def((name + "_vjp").c_str(),
        [=](const Array<const T>& x, const LevelsArgument& k, const AlphaArgument& alpha,
            const Array<const T>& g, const Optional<T>& gx, const std::optional<Numbers>& gk,
            const std::optional<Numbers>& galpha, bool descending, int threads,
            const Optional<const double>& saved, const Lengths& lengths) {
          const auto row = rows("x", x, lengths);
          const auto at = levels("k", k, row.count);
          const auto softness = per_row(alpha, row.count);
          const auto given = rows("g", g);
          const auto to_x = rows("gx", gx);
          double* to_k = numbers("gk", gk, row.count * at.count());
          double* to_alpha = numbers("galpha", galpha, row.count);
          const Threshold* kept = thresholds(saved, row.count * at.count());
          const nb::gil_scoped_release release;
          vjp(row, at, softness, kept, given, to_x, to_k, to_alpha, order(descending), threads);
        },
        "x"_a.noconvert(), "k"_a, "alpha"_a, "g"_a.noconvert(), "gx"_a.noconvert().none(),
        "gk"_a.noconvert().none(), "galpha"_a.noconvert().none(), "descending"_a, "threads"_a,
        "saved"_a.noconvert() = nb::none(), "lengths"_a.noconvert() = nb::none());
  m.def((name + "_jvp").c_str(),
        [=](const Array<const T>& x, const LevelsArgument& k, const AlphaArgument& alpha,
            const Optional<const T>& dx, const std::optional<ConstNumbers>& dk,
            const std::optional<ConstNumbers>& dalpha, const Array<T>& dout, bool descending,
            int threads, const Optional<const double>& saved, const Lengths& lengths) {
          const auto row = rows("x", x, lengths);
          const auto at = levels("k", k, row.count);
          const auto softness = per_row(alpha, row.count);
          const auto along_x = rows("dx", dx);
          const double* along_k = numbers("dk", dk, row.count * at.count());
          const double* along_alpha = numbers("dalpha", dalpha, row.count);
          const auto to = rows("dout", dout);
          const Threshold* kept = thresholds(saved, row.count * at.count());
          const nb::gil_scoped_release release;
          jvp(row, at, softness, kept, along_x, along_k, along_alpha, to, order(descending),
              threads);
        },
        "x"_a.noconvert(), "k"_a, "alpha"_a, "dx"_a.noconvert().none(), "dk"_a.noconvert().none(),
        "dalpha"_a.noconvert().none(), "dout"_a.noconvert(), "descending"_a, "threads"_a,
        "saved"_a.noconvert() = nb::none(), "lengths"_a.noconvert() = nb::none());
}

/// What an operation with an order takes, and how it is called; others have neither.
template <class>
using Flag = bool;
template <class>
inline constexpr const char* kFlag = "descending";

/// lap_sum_inverse, soft_quantile and, with an order, soft_kth_value: a row, levels and alpha to a
/// number per level.
template <class T, class... Orders>
void bind_inverse(nb::module_& m, const std::string& name,
                  void (*value)(Rows<const T>, Levels, PerRow, Rows<T>, Orders..., Threads),
                  void (*vjp)(Rows<const T>, Levels, PerRow, Rows<const T>, Rows<T>, double*,
                              double*, Orders..., Threads),
                  void (*jvp)(Rows<const T>, Levels, PerRow, Rows<const T>, const double*,
                              const double*, Rows<T>, Orders..., Threads)) {
  m.def(
      name.c_str(),
      [=](const Array<const T>& r, const LevelsArgument& k, const AlphaArgument& alpha,
          const Array<T>& out, Flag<Orders>... descending, int threads, const Lengths& lengths) {
        const auto row = rows("r", r, lengths);
        const auto at = levels("k", k, row.count);
        const auto softness = per_row(alpha, row.count);
        const auto to = rows("out", out);
        const nb::gil_scoped_release release;
        value(row, at, softness, to, order(descending)..., threads);
      },
      "r"_a.noconvert(), "k"_a, "alpha"_a, "out"_a.noconvert(), nb::arg(kFlag<Orders>)...,
      "threads"_a, "lengths"_a.noconvert() = nb::none());
  m.def((name + "_vjp").c_str(),
        [=](const Array<const T>& r, const LevelsArgument& k, const AlphaArgument& alpha,
            const Array<const T>& g, const Optional<T>& gr, const std::optional<Numbers>& gk,
            const std::optional<Numbers>& galpha, Flag<Orders>... descending, int threads,
            const Lengths& lengths) {
          const auto row = rows("r", r, lengths);
          const auto at = levels("k", k, row.count);
          const auto softness = per_row(alpha, row.count);
          const auto given = rows("g", g);
          const auto to_r = rows("gr", gr);
          double* to_k = numbers("gk", gk, row.count * at.count());
          double* to_alpha = numbers("galpha", galpha, row.count);
          const nb::gil_scoped_release release;
          vjp(row, at, softness, given, to_r, to_k, to_alpha, order(descending)..., threads);
        },
        "r"_a.noconvert(), "k"_a, "alpha"_a, "g"_a.noconvert(), "gr"_a.noconvert().none(),
        "gk"_a.noconvert().none(), "galpha"_a.noconvert().none(), nb::arg(kFlag<Orders>)...,
        "threads"_a, "lengths"_a.noconvert() = nb::none());
  m.def((name + "_jvp").c_str(),
        [=](const Array<const T>& r, const LevelsArgument& k, const AlphaArgument& alpha,
            const Optional<const T>& dr, const std::optional<ConstNumbers>& dk,
            const std::optional<ConstNumbers>& dalpha, const Array<T>& dout,
            Flag<Orders>... descending, int threads, const Lengths& lengths) {
          const auto row = rows("r", r, lengths);
          const auto at = levels("k", k, row.count);
          const auto softness = per_row(alpha, row.count);
          const auto along_r = rows("dr", dr);
          const double* along_k = numbers("dk", dk, row.count * at.count());
          const double* along_alpha = numbers("dalpha", dalpha, row.count);
          const auto to = rows("dout", dout);
          const nb::gil_scoped_release release;
          jvp(row, at, softness, along_r, along_k, along_alpha, to, order(descending)..., threads);
        },
        "r"_a.noconvert(), "k"_a, "alpha"_a, "dr"_a.noconvert().none(), "dk"_a.noconvert().none(),
        "dalpha"_a.noconvert().none(), "dout"_a.noconvert(), nb::arg(kFlag<Orders>)..., "threads"_a,
        "lengths"_a.noconvert() = nb::none());
}

}  // namespace lapsum::python
