// Functions of lapsum::cuda as Python functions: each parameter has one form in Python.
// Arrays are device memory and travel as (address, rows, length), so that nothing looks at them.
#pragma once

#include <lapsum/cuda/lapsum.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "../choices.h"

namespace lapsum::python {

namespace nb = nanobind;

using Memory = std::tuple<std::uintptr_t, std::ptrdiff_t, std::ptrdiff_t>;
/// A number, or an array with one row of numbers per row.
using NumberOrMemory = std::variant<Memory, double>;

template <class T>
T* address(const Memory& memory) {
  return reinterpret_cast<T*>(std::get<0>(memory));
}

/// What stands for a parameter in Python, and how it becomes one.
template <class Parameter>
struct Argument;

template <class T>
struct Argument<Rows<T>> {
  using Type = std::optional<Memory>;
  static Rows<T> from(const Type& a) {
    return a ? Rows<T>(address<T>(*a), std::get<1>(*a), std::get<2>(*a)) : Rows<T>();
  }
};

template <class T>
struct Argument<T*> {
  using Type = std::optional<Memory>;
  static T* from(const Type& a) { return a ? address<T>(*a) : nullptr; }
};

template <>
struct Argument<PerRow> {
  using Type = NumberOrMemory;
  static PerRow from(const Type& a) {
    if (const double* number = std::get_if<double>(&a)) return *number;
    return PerRow(address<const double>(std::get<Memory>(a)));
  }
};

template <>
struct Argument<Levels> {
  using Type = NumberOrMemory;
  static Levels from(const Type& a) {
    if (const double* number = std::get_if<double>(&a)) return *number;
    const Memory& memory = std::get<Memory>(a);
    return {address<const double>(memory), std::get<2>(memory), std::get<2>(memory)};
  }
};

template <>
struct Argument<Order> {
  using Type = bool;
  static Order from(bool descending) { return order(descending); }
};

template <>
struct Argument<Apply> {
  using Type = bool;
  static Apply from(bool transpose) { return apply(transpose); }
};

template <>
struct Argument<Kernel> {
  using Type = std::tuple<std::string, int>;
  static Kernel from(const Type& a) { return {kernel_shape(std::get<0>(a)), std::get<1>(a)}; }
};

template <>
struct Argument<std::ptrdiff_t> {
  using Type = std::ptrdiff_t;
  static std::ptrdiff_t from(Type a) { return a; }
};

/// (stream, workspace, bytes)
template <>
struct Argument<const cuda::Launch&> {
  using Type = std::tuple<std::uintptr_t, std::uintptr_t, std::size_t>;
  static cuda::Launch from(const Type& a) {
    return {reinterpret_cast<CUstream_st*>(std::get<0>(a)), reinterpret_cast<void*>(std::get<1>(a)),
            std::get<2>(a)};
  }
};

template <class Result, class... Parameters>
void bind(nb::module_& m, const std::string& name, Result (*function)(Parameters...)) {
  m.def(name.c_str(), [=](const typename Argument<Parameters>::Type&... given) {
    const nb::gil_scoped_release release;
    return function(Argument<Parameters>::from(given)...);
  });
}

}  // namespace lapsum::python
