// A batch too large to be worked on at once goes some rows at a time: scratch memory is bounded,
// and indices inside a slab fit into 32 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "cuda/primitives/queue.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

/// Entries of a slab; a longer row is a slab of its own.
inline constexpr std::ptrdiff_t kSlab = std::ptrdiff_t{1} << 22;

/// Some rows of a batch, and the parts of arguments that belong to them.
struct Slab {
  std::ptrdiff_t first, count;

  template <class T>
  Rows<T> of(Rows<T> rows) const {
    return {rows.data ? rows[first] : nullptr, count, rows.length, rows.stride};
  }
  PerRow of(const PerRow& numbers) const {
    return numbers.is_number() ? numbers : PerRow(numbers.data() + first);
  }
  Levels of(const Levels& levels) const {
    if (levels.is_number()) return levels;
    return {levels.data() + first * levels.stride(), levels.count(), levels.stride()};
  }
  /// `each` numbers for every row.
  template <class T>
  T* of(T* numbers, std::ptrdiff_t each = 1) const {
    return numbers ? numbers + first * each : nullptr;
  }
};

/// body(slab) for the slabs of a batch whose rows have `length` entries, each with the memory that
/// the one before gave back.
template <class Body>
void for_each_slab(Queue& queue, std::ptrdiff_t rows, std::ptrdiff_t length, Body&& body) {
  const std::ptrdiff_t at_once =
      std::max<std::ptrdiff_t>(1, kSlab / std::max<std::ptrdiff_t>(length, 1));
  for (std::ptrdiff_t first = 0; first < rows; first += at_once) {
    const Queue::Scope scope(queue);
    body(Slab{first, std::min(at_once, rows - first)});
    if (!queue.runs()) return;  // the first slab is the largest
  }
}

/// Stands for an array that is given when memory is counted; it is never read.
template <class T>
Rows<T> some_rows(std::ptrdiff_t count, std::ptrdiff_t length) {
  static std::remove_const_t<T> one;
  return {&one, count, length};
}
template <class T>
T* some() {
  return some_rows<T>(1, 1).data;
}

}  // namespace lapsum::gpu
