// What every operation takes: batches of rows, and numbers given once or once per row.
// These are views: they own nothing, and the memory behind them must outlive the call.
#pragma once

#include <cstddef>
#include <type_traits>

namespace lapsum {

/// `count` rows of `length` contiguous elements each, `stride` elements from one row to the next.
/// A stride of 0 repeats one row. A view without data stands for an optional argument left out.
/// The first argument of an operation may be ragged: `lengths`, if given, says how many elements at
/// the front of each row there are (numbers beyond [0, length] saturate). The rest is padding: it is
/// never read and has no part in anything; results for it are 0, log p is -inf.
template <class T>
struct Rows {
  T* data = nullptr;
  std::ptrdiff_t count = 0;
  std::ptrdiff_t length = 0;
  std::ptrdiff_t stride = 0;
  const std::ptrdiff_t* lengths = nullptr;

  Rows() = default;
  Rows(T* data, std::ptrdiff_t count, std::ptrdiff_t length, std::ptrdiff_t stride,
       const std::ptrdiff_t* lengths = nullptr)
      : data(data), count(count), length(length), stride(stride), lengths(lengths) {}
  Rows(T* data, std::ptrdiff_t count, std::ptrdiff_t length) : Rows(data, count, length, length) {}

  constexpr T* operator[](std::ptrdiff_t row) const { return data + row * stride; }
  operator Rows<const T>() const { return {data, count, length, stride, lengths}; }
};

/// A number for every row: the same for all, or one each.
/// The single number is checked against its domain and throws; numbers from an array never throw:
/// those out of their domain saturate or make their own row NaN, as each operation says.
class PerRow {
 public:
  PerRow(double number) : is_number_(true), number_(number) {}
  explicit PerRow(const double* numbers) : numbers_(numbers) {}

  bool is_number() const { return is_number_; }
  bool has_data() const { return is_number_ || numbers_ != nullptr; }
  double operator[](std::ptrdiff_t row) const { return is_number_ ? number_ : numbers_[row]; }
  /// The numbers of the rows from `row` on.
  PerRow from(std::ptrdiff_t row) const {
    return is_number_ || !numbers_ ? *this : PerRow(numbers_ + row);
  }
  /// The array, null for a number; without reading it.
  const double* data() const { return numbers_; }

 private:
  const double* numbers_ = nullptr;
  bool is_number_ = false;
  double number_ = 0;
};

/// `count` levels for every row: a single number (checked, as in PerRow), or an array whose row i
/// starts at `data + i * stride`; a stride of 0 gives every row the same levels.
class Levels {
 public:
  Levels(double number) : is_number_(true), number_(number) {}
  Levels(const double* data, std::ptrdiff_t count, std::ptrdiff_t stride)
      : data_(data), count_(count), stride_(stride) {}

  bool is_number() const { return is_number_; }
  bool has_data() const { return is_number_ || data_ != nullptr; }
  std::ptrdiff_t count() const { return count_; }
  /// The array, null for a number, and its stride; without reading it.
  const double* data() const { return data_; }
  std::ptrdiff_t stride() const { return stride_; }
  const double* operator[](std::ptrdiff_t row) const {
    return is_number_ ? &number_ : data_ + row * stride_;
  }
  /// The levels of the rows from `row` on.
  Levels from(std::ptrdiff_t row) const {
    return is_number_ || !data_ ? *this : Levels(data_ + row * stride_, count_, stride_);
  }

 private:
  const double* data_ = nullptr;
  std::ptrdiff_t count_ = 1;
  std::ptrdiff_t stride_ = 0;
  bool is_number_ = false;
  double number_ = 0;
};

/// The root b of a LapSum equation, as the sum of two doubles: rounding b to one number would cost
/// ulp(b) / alpha in everything computed from b. An infinite `anchor` says that no finite element
/// lies on one side of b; `offset` is then the share of each element at that same infinity.
struct Threshold {
  double anchor = 0;
  double offset = 0;
};

/// The shortest row whose argsort soft_rank and soft_sort keep for their derivatives when asked to.
/// Shorter rows of floats are sorted several at a time, which takes no longer than to read an order.
template <class T>
inline constexpr std::ptrdiff_t kArgsortFrom = std::is_same_v<T, float> ? 1025 : 1;

/// Which end comes first: the smallest (rank 0, sorted ascending, top-k of the smallest) or the
/// largest. A negative alpha reverses it.
enum class Order { ascending, descending };

/// How many threads a call may use; 0 leaves it to OpenMP. Results are the same bits for any count.
using Threads = int;

}  // namespace lapsum
