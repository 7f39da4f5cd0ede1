// Levels of rows: numbers in any order; or first, first + 1, ..., as those of a soft sort, which need
// neither memory nor a search.
#pragma once

#include <cstddef>
#include <span>

#include "lapsum/rows.h"

namespace lapsum::cpu {

/// Those of one row.
class RowLevels {
 public:
  RowLevels(std::span<const double> values) : values_(values), count_(std::ssize(values)) {}
  static RowLevels in_steps(double first, std::ptrdiff_t count) { return {first, count}; }

  std::ptrdiff_t size() const { return count_; }
  bool are_steps() const { return are_steps_; }
  double operator[](std::ptrdiff_t t) const {
    return are_steps_ ? first_ + static_cast<double>(t) : values_[static_cast<std::size_t>(t)];
  }
  /// The numbers, if they are not steps.
  std::span<const double> values() const { return values_; }
  /// The levels from t on: where they lie, or in `room`.
  const double* from(std::ptrdiff_t t, std::span<double> room) const {
    if (!are_steps_) return values_.data() + t;
    const auto begin = static_cast<double>(t);
    for (int i = 0; i < static_cast<int>(room.size()); ++i) room[i] = first_ + (begin + i);
    return room.data();
  }

 private:
  RowLevels(double first, std::ptrdiff_t count) : first_(first), count_(count), are_steps_(true) {}

  std::span<const double> values_;
  double first_ = 0;
  std::ptrdiff_t count_;
  bool are_steps_ = false;
};

/// Those of every row: as they are given, or the same steps for all.
class AllLevels {
 public:
  AllLevels(const Levels& given) : given_(given), steps_({}) {}
  static AllLevels in_steps(double first, std::ptrdiff_t count) {
    return RowLevels::in_steps(first, count);
  }

  std::ptrdiff_t count() const { return steps_.are_steps() ? steps_.size() : given_.count(); }
  RowLevels operator[](std::ptrdiff_t row) const {
    if (steps_.are_steps()) return steps_;
    return std::span(given_[row], static_cast<std::size_t>(given_.count()));
  }

 private:
  AllLevels(const RowLevels& steps) : given_(0.0), steps_(steps) {}

  Levels given_;
  RowLevels steps_;
};

}  // namespace lapsum::cpu
