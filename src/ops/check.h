// Every argument error of the library is worded here: `operation: argument must be ..., got ...`.
#pragma once

#include <limits>
#include <string>

#include "cpu/primitives/kept_order.h"
#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::ops {

/// The limit of a level among weights: their sum is not looked at.
inline constexpr double kAnyWeight = std::numeric_limits<double>::infinity();

/// The argument checks of one operation; each throws std::invalid_argument.
class Check {
 public:
  /// Checks what every operation has: the row, alpha (finite and not 0, if a single number),
  /// threads.
  template <class T>
  Check(const char* operation, const char* name, Rows<const T> row, const PerRow& alpha,
        Threads threads)
      : operation_(operation) {
    input(name, row);
    sortable(name, row.length);
    this->alpha(alpha, row.count);
    range("threads", threads, 0, kAnyThreads);
  }

  /// The same on a GPU, where rows have one length.
  template <class T>
  Check(const char* operation, const char* name, Rows<const T> row, const PerRow& alpha,
        const cuda::Launch&)
      : Check(operation, name, row, alpha, Threads{0}) {
    if (row.lengths) fail(name, "have rows of one length on a GPU", "lengths");
  }

  /// A view must be well formed: sizes not negative, data where there are elements.
  template <class T>
  void input(const char* name, Rows<const T> rows) const {
    view(name, rows.data != nullptr, rows.count, rows.length);
  }
  /// As input, of a given shape.
  template <class T>
  void input(const char* name, Rows<const T> rows, std::ptrdiff_t count,
             std::ptrdiff_t length) const {
    input(name, rows);
    shape(name, rows.count, rows.length, count, length);
  }
  /// As input, of a given shape, with rows that do not overlap.
  template <class T>
  void output(const char* name, Rows<T> rows, std::ptrdiff_t count, std::ptrdiff_t length) const {
    input<T>(name, rows, count, length);
    stride(name, rows.count, rows.length, rows.stride);
  }
  template <class T>
  void optional_input(const char* name, Rows<const T> rows, std::ptrdiff_t count,
                      std::ptrdiff_t length) const {
    if (rows.data) input(name, rows, count, length);
  }
  template <class T>
  void optional_output(const char* name, Rows<T> rows, std::ptrdiff_t count,
                       std::ptrdiff_t length) const {
    if (rows.data) output(name, rows, count, length);
  }

  /// Runs body, which finds out whether the argsort handed to it is that of x.
  template <class Body>
  void argsort(Body&& body) const {
    try {
      body();
    } catch (const cpu::WrongArgsort&) {
      fail("argsort", "be that of x", "another order");
    }
  }

  /// A length that is sorted: elements, points or levels are indexed by 32 bits.
  void sortable(const char* name, std::ptrdiff_t length) const;
  /// Levels must have data; a single one must lie in [0, limit]; `limit_name` says what the limit is.
  void level(const char* name, const Levels& levels, std::ptrdiff_t rows, double limit,
             const char* limit_name) const;
  /// The workspace of a call on a GPU must hold `bytes`.
  void workspace(const cuda::Launch& where, std::size_t bytes) const;
  /// An integer argument must lie in [low, high].
  void range(const char* name, std::ptrdiff_t value, std::ptrdiff_t low, std::ptrdiff_t high) const;

 private:
  static constexpr std::ptrdiff_t kAnyThreads = 1 << 20;

  void alpha(const PerRow& alpha, std::ptrdiff_t rows) const;
  void view(const char* name, bool has_data, std::ptrdiff_t count, std::ptrdiff_t length) const;
  void shape(const char* name, std::ptrdiff_t count, std::ptrdiff_t length,
             std::ptrdiff_t want_count, std::ptrdiff_t want_length) const;
  void stride(const char* name, std::ptrdiff_t count, std::ptrdiff_t length,
              std::ptrdiff_t stride) const;
  [[noreturn]] void fail(const std::string& name, const std::string& must,
                         const std::string& got) const;

  std::string operation_;
};

}  // namespace lapsum::ops
