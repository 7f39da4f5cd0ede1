#include "addresses.h"

namespace lapsum::python {
namespace {

// values are (rows, n d), so that d follows from the shapes; no columns where n = 0.
template <class T>
std::ptrdiff_t columns(Rows<const T> x, Rows<const T> values) {
  return x.length > 0 ? values.length / x.length : 0;
}

template <class T>
void bind(nb::module_& m) {
  m.def(
      "soft_permute",
      [](const Array<const T>& x, const Array<const T>& values, const AlphaArgument& alpha,
         const Array<T>& out, bool transpose, bool descending, int threads,
         const Lengths& lengths) {
        const auto view = rows("x", x, lengths);
        const auto in = rows("values", values);
        const auto softness = per_row(alpha, view.count);
        const auto to = rows("out", out);
        const nb::gil_scoped_release release;
        soft_permute<T>(view, in, columns(view, in), softness, to, apply(transpose),
                        order(descending), threads);
      },
      "x"_a.noconvert(), "values"_a.noconvert(), "alpha"_a, "out"_a.noconvert(), "transpose"_a,
      "descending"_a, "threads"_a, "lengths"_a.noconvert() = nb::none());
  m.def(
      "soft_permute_vjp",
      [](const Array<const T>& x, const Array<const T>& values, const AlphaArgument& alpha,
         const Array<const T>& g, const Optional<T>& gx, const Optional<T>& gvalues,
         const std::optional<Numbers>& galpha, bool transpose, bool descending, int threads,
         const Lengths& lengths) {
        const auto view = rows("x", x, lengths);
        const auto in = rows("values", values);
        const auto softness = per_row(alpha, view.count);
        const auto given = rows("g", g);
        const auto to_x = rows("gx", gx);
        const auto to_values = rows("gvalues", gvalues);
        double* to_alpha = numbers("galpha", galpha, view.count);
        const nb::gil_scoped_release release;
        soft_permute_vjp<T>(view, in, columns(view, in), softness, given, to_x, to_values, to_alpha,
                            apply(transpose), order(descending), threads);
      },
      "x"_a.noconvert(), "values"_a.noconvert(), "alpha"_a, "g"_a.noconvert(),
      "gx"_a.noconvert().none(), "gvalues"_a.noconvert().none(), "galpha"_a.noconvert().none(),
      "transpose"_a, "descending"_a, "threads"_a, "lengths"_a.noconvert() = nb::none());
  m.def(
      "soft_permute_jvp",
      [](const Array<const T>& x, const Array<const T>& values, const AlphaArgument& alpha,
         const Optional<const T>& dx, const Optional<const T>& dvalues,
         const std::optional<ConstNumbers>& dalpha, const Array<T>& dout, bool transpose,
         bool descending, int threads, const Lengths& lengths) {
        const auto view = rows("x", x, lengths);
        const auto in = rows("values", values);
        const auto softness = per_row(alpha, view.count);
        const auto along_x = rows("dx", dx);
        const auto along_values = rows("dvalues", dvalues);
        const double* along_alpha = numbers("dalpha", dalpha, view.count);
        const auto to = rows("dout", dout);
        const nb::gil_scoped_release release;
        soft_permute_jvp<T>(view, in, columns(view, in), softness, along_x, along_values,
                            along_alpha, to, apply(transpose), order(descending), threads);
      },
      "x"_a.noconvert(), "values"_a.noconvert(), "alpha"_a, "dx"_a.noconvert().none(),
      "dvalues"_a.noconvert().none(), "dalpha"_a.noconvert().none(), "dout"_a.noconvert(),
      "transpose"_a, "descending"_a, "threads"_a, "lengths"_a.noconvert() = nb::none());
}

template <class T>
void bind_at(nb::module_& m) {
  const std::string name = "soft_permute";
  m.def((name + kAt<T>).c_str(),
        [](Address x, Address values, std::ptrdiff_t count, std::ptrdiff_t length,
           std::ptrdiff_t columns, double alpha, Address out, bool transpose, bool descending,
           int threads) {
          const nb::gil_scoped_release release;
          soft_permute<T>(rows<const T>(x, count, length),
                          rows<const T>(values, count, length * columns), columns, alpha,
                          rows<T>(out, count, length * columns), apply(transpose),
                          order(descending), threads);
        },
        "x"_a, "values"_a, "rows"_a, "length"_a, "columns"_a, "alpha"_a, "out"_a, "transpose"_a,
        "descending"_a, "threads"_a);
  m.def((name + "_vjp" + kAt<T>).c_str(),
        [](Address x, Address values, std::ptrdiff_t count, std::ptrdiff_t length,
           std::ptrdiff_t columns, double alpha, Address g, Address gx, Address gvalues,
           bool transpose, bool descending, int threads) {
          const nb::gil_scoped_release release;
          soft_permute_vjp<T>(rows<const T>(x, count, length),
                              rows<const T>(values, count, length * columns), columns, alpha,
                              rows<const T>(g, count, length * columns),
                              optional_rows<T>(gx, count, length),
                              optional_rows<T>(gvalues, count, length * columns), nullptr,
                              apply(transpose), order(descending), threads);
        },
        "x"_a, "values"_a, "rows"_a, "length"_a, "columns"_a, "alpha"_a, "g"_a, "gx"_a, "gvalues"_a,
        "transpose"_a, "descending"_a, "threads"_a);
}

}  // namespace

void bind_soft_permute(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
  bind_at<float>(m);
  bind_at<double>(m);
}

}  // namespace lapsum::python
