// Operations by the addresses of contiguous rows, with k and alpha plain numbers: to read an array
// costs more than to work on a short row. The caller vouches for the memory.
#pragma once

#include "arrays.h"

namespace lapsum::python {

using Address = std::uintptr_t;

template <class T>
inline constexpr const char* kAt = nullptr;
template <>
inline constexpr const char* kAt<float> = "_at_float32";
template <>
inline constexpr const char* kAt<double> = "_at_float64";
template <>
inline constexpr const char* kAt<Half> = "_at_float16";
template <>
inline constexpr const char* kAt<Bfloat16> = "_at_bfloat16";

template <class T>
Rows<T> rows(Address data, std::ptrdiff_t count, std::ptrdiff_t length) {
  return {reinterpret_cast<T*>(data), count, length};
}

/// One threshold per row, in the memory of a bytearray.
inline Threshold* thresholds(nb::bytearray& bytes, std::ptrdiff_t count) {
  require(bytes.size() == static_cast<std::size_t>(count) * sizeof(Threshold), "thresholds",
          "have 16 bytes per row");
  return static_cast<Threshold*>(bytes.data());
}

/// Rows that may be left out: then the address is 0.
template <class T>
Rows<T> optional_rows(Address data, std::ptrdiff_t count, std::ptrdiff_t length) {
  return data ? rows<T>(data, count, length) : Rows<T>{};
}

template <class T>
void bind_ordered_at(nb::module_& m, const std::string& name, decltype(soft_rank<T>)* value,
                     decltype(soft_rank_vjp<T>)* vjp) {
  m.def((name + kAt<T>).c_str(),
        [=](Address x, std::ptrdiff_t count, std::ptrdiff_t length, double alpha, Address out,
            bool descending, int threads, Address keep) {
          const nb::gil_scoped_release release;
          value(rows<const T>(x, count, length), alpha, rows<T>(out, count, length),
                order(descending), threads, optional_rows<std::uint32_t>(keep, count, length));
        },
        "x"_a, "rows"_a, "length"_a, "alpha"_a, "out"_a, "descending"_a, "threads"_a, "keep"_a = 0);
  m.def((name + "_vjp" + kAt<T>).c_str(),
        [=](Address x, std::ptrdiff_t count, std::ptrdiff_t length, double alpha, Address g,
            Address gx, bool descending, int threads, Address saved) {
          const nb::gil_scoped_release release;
          vjp(rows<const T>(x, count, length), alpha, rows<const T>(g, count, length),
              rows<T>(gx, count, length), nullptr, order(descending), threads,
              optional_rows<const std::uint32_t>(saved, count, length));
        },
        "x"_a, "rows"_a, "length"_a, "alpha"_a, "g"_a, "gx"_a, "descending"_a, "threads"_a,
        "saved"_a = 0);
}

template <class T>
void bind_mask_at(nb::module_& m, const std::string& name, decltype(soft_topk<T>)* value,
                  decltype(soft_topk_vjp<T>)* vjp) {
  m.def((name + kAt<T>).c_str(),
        [=](Address x, std::ptrdiff_t count, std::ptrdiff_t length, double k, double alpha,
            Address out, bool descending, int threads, std::optional<nb::bytearray> keep) {
          Threshold* kept = keep ? thresholds(*keep, count) : nullptr;
          const nb::gil_scoped_release release;
          value(rows<const T>(x, count, length), k, alpha, rows<T>(out, count, length), kept,
                order(descending), threads);
        },
        "x"_a, "rows"_a, "length"_a, "k"_a, "alpha"_a, "out"_a, "descending"_a, "threads"_a,
        "keep"_a = nb::none());
  m.def((name + "_vjp" + kAt<T>).c_str(),
        [=](Address x, std::ptrdiff_t count, std::ptrdiff_t length, double k, double alpha,
            Address g, Address gx, bool descending, int threads, nb::bytearray saved) {
          const Threshold* kept = thresholds(saved, count);
          const nb::gil_scoped_release release;
          vjp(rows<const T>(x, count, length), k, alpha, kept, rows<const T>(g, count, length),
              rows<T>(gx, count, length), nullptr, nullptr, order(descending), threads);
        },
        "x"_a, "rows"_a, "length"_a, "k"_a, "alpha"_a, "g"_a, "gx"_a, "descending"_a, "threads"_a,
        "saved"_a);
}

}  // namespace lapsum::python
