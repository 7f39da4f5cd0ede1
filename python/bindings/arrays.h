// Arrays of any framework as the views of the C++ library. Arrays are 2-D, on the CPU, with
// contiguous rows; outputs are allocated by the caller. Rows are never copied or converted here.
#pragma once

#include <lapsum/lapsum.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

#include "choices.h"

namespace nanobind::detail {

// The element types of 16 bits, as DLPack tells them.
template <>
struct dtype_traits<lapsum::Half> {
  static constexpr dlpack::dtype value{static_cast<std::uint8_t>(dlpack::dtype_code::Float), 16, 1};
  static constexpr auto name = const_name("float16");
};
template <>
struct dtype_traits<lapsum::Bfloat16> {
  static constexpr dlpack::dtype value{static_cast<std::uint8_t>(dlpack::dtype_code::Bfloat), 16,
                                       1};
  static constexpr auto name = const_name("generic");  // NumPy has no name for it
};

}  // namespace nanobind::detail

namespace lapsum::python {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Array = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Optional = std::optional<Array<T>>;
/// Numbers that go with the rows: k, alpha and their derivatives are always double.
using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ConstNumbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AlphaArgument = std::variant<double, ConstNumbers>;
/// How many elements of each row there are, for a ragged batch.
using Lengths =
    std::optional<nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;
using LevelsArgument = std::variant<double, Array<const double>>;

inline void require(bool condition, const char* name, const char* must) {
  if (!condition) throw std::invalid_argument(std::string(name) + " must " + must);
}

template <class T>
Rows<T> rows(const char* name, const Array<T>& a) {
  require(a.size() == 0 || a.shape(1) == 1 || a.stride(1) == 1, name, "have contiguous rows");
  require(reinterpret_cast<std::uintptr_t>(a.data()) % alignof(T) == 0, name, "be aligned");
  return {a.data(), static_cast<std::ptrdiff_t>(a.shape(0)),
          static_cast<std::ptrdiff_t>(a.shape(1)), static_cast<std::ptrdiff_t>(a.stride(0))};
}

template <class T>
Rows<T> rows(const char* name, const Optional<T>& a) {
  return a ? rows(name, *a) : Rows<T>{};
}

/// As `rows`, of a batch that may be ragged.
template <class T>
Rows<T> rows(const char* name, const Array<T>& a, const Lengths& lengths) {
  static_assert(sizeof(std::int64_t) == sizeof(std::ptrdiff_t));
  Rows<T> view = rows(name, a);
  if (!lengths) return view;
  require(static_cast<std::ptrdiff_t>(lengths->shape(0)) == view.count, "lengths",
          "have one number per row");
  view.lengths = reinterpret_cast<const std::ptrdiff_t*>(lengths->data());
  return view;
}

inline PerRow per_row(const AlphaArgument& alpha, std::ptrdiff_t count) {
  if (const double* number = std::get_if<double>(&alpha)) return *number;
  const auto& array = std::get<ConstNumbers>(alpha);
  require(static_cast<std::ptrdiff_t>(array.shape(0)) == count, "alpha", "have one number per row");
  return PerRow(array.data());
}

inline Levels levels(const char* name, const LevelsArgument& k, std::ptrdiff_t count) {
  if (const double* number = std::get_if<double>(&k)) return *number;
  const auto view = rows(name, std::get<Array<const double>>(k));
  require(view.count == count, name, "have one row per row of x");
  return {view.data, view.length, view.stride};
}

template <class Array1d>
auto* numbers(const char* name, const std::optional<Array1d>& a, std::ptrdiff_t count) {
  require(!a || static_cast<std::ptrdiff_t>(a->shape(0)) == count, name, "have the right length");
  return a ? a->data() : nullptr;
}

/// Thresholds travel as an array of (anchor, offset) pairs.
template <class Pair>
auto* thresholds(const std::optional<Pair>& a, std::ptrdiff_t count) {
  using T = std::conditional_t<std::is_same_v<Pair, Array<double>>, Threshold, const Threshold>;
  if (!a) return static_cast<T*>(nullptr);
  require(static_cast<std::ptrdiff_t>(a->shape(0)) == count && a->shape(1) == 2 &&
              (count == 0 || (a->stride(0) == 2 && a->stride(1) == 1)),
          "thresholds", "be one contiguous pair per level");
  return reinterpret_cast<T*>(a->data());
}

void bind_lap_kernel(nb::module_& m);
void bind_lap_sum(nb::module_& m);
void bind_lap_sum_inverse(nb::module_& m);
void bind_log_soft_topk(nb::module_& m);
void bind_soft_kth_value(nb::module_& m);
void bind_soft_permutation(nb::module_& m);
void bind_soft_permute(nb::module_& m);
void bind_soft_quantile(nb::module_& m);
void bind_soft_rank(nb::module_& m);
void bind_soft_sort(nb::module_& m);
void bind_soft_topk(nb::module_& m);

}  // namespace lapsum::python
