// Results that are made in the order of the values of a row, and belong to its elements. Threads that
// write here and there in one row wait for each other's cache lines: one of them does it in the end. In
// a long row all lines are far away: there, results are first grouped by the part of the row that they
// belong to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/argsort.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/prefetch.h"
#include "cpu/primitives/row.h"

namespace lapsum::cpu {

template <class T>
class Scattered {
 public:
  /// Results go to out[elements[j]]; `elements` lie below n, each at most once.
  Scattered(std::span<const Index> elements, std::ptrdiff_t n, T* out, Arena& arena, int threads)
      : elements_(elements), out_(out), threads_(threads), chunks_(std::ssize(elements)) {
    if (n <= kNearLength) {
      if (threads > 1 && n > kChunk) collected_ = arena.take<T>(std::ssize(elements));
      return;
    }
    while ((n - 1) >> shift_ >= kMostParts) ++shift_;
    parts_ = ((n - 1) >> shift_) + 1;
    grouped_ = arena.take<Placed>(std::ssize(elements));
    begins_ = arena.take<Index>(chunks_.count() * (parts_ + 1));
  }

  /// The narrowed results [begin, end), one chunk of for_each_chunk, in any thread: fill(j, count, to)
  /// writes those from j on.
  template <class Fill>
  void put(std::ptrdiff_t begin, std::ptrdiff_t end, Fill&& fill) {
    if (!collected_.empty()) {
      return narrow_pieces<T>(begin, end, fill, [&](std::ptrdiff_t j, int count, const T* results) {
        std::copy_n(results, count, &collected_[j]);
      });
    }
    if (parts_ == 0) {
      return narrow_pieces<T>(begin, end, fill, [&](std::ptrdiff_t j, int count, const T* results) {
        for (int l = 0; l < count; ++l) out_[elements_[j + l]] = results[l];
      });
    }
    Index* begins = begins_of(chunks_.at(begin));
    std::fill_n(begins, parts_ + 1, Index{0});
    constexpr std::ptrdiff_t kLine = kCacheLine / sizeof(Placed);
    for (std::ptrdiff_t j = begin; j < end; j += kLine) {
      expect_write(&grouped_[j]);  // it will be written here and there
      const std::ptrdiff_t last = std::min(j + kLine, end);
      for (std::ptrdiff_t i = j; i < last; ++i) ++begins[part(elements_[i]) + 1];
    }
    for (std::ptrdiff_t p = 0; p < parts_; ++p) begins[p + 1] += begins[p];
    Index next[kMostParts];
    std::copy_n(begins, parts_, next);
    narrow_pieces<T>(begin, end, fill, [&](std::ptrdiff_t j, int count, const T* results) {
      for (int l = 0; l < count; ++l) {
        const Index element = elements_[j + l];
        grouped_[begin + next[part(element)]++] = {element, results[l]};
      }
    });
  }

  /// After all chunks.
  void finish() {
    for (std::size_t j = 0; j < collected_.size(); ++j) out_[elements_[j]] = collected_[j];
    parallel_for(parts_, threads_, [&](std::ptrdiff_t p, int) {
      for (std::ptrdiff_t c = 0; c < chunks_.count(); ++c) {
        const Index* begins = begins_of(c);
        const Placed* placed = grouped_.data() + chunks_.begin(c);
        for (Index i = begins[p]; i < begins[p + 1]; ++i)
          out_[placed[i].element] = placed[i].result;
      }
    });
  }

 private:
  struct Placed {
    Index element;
    T result;
  };
  // A part stays in the nearest cache, unless there would be too many to write to at once.
  static constexpr std::ptrdiff_t kMostParts = 256;
  // A row that the caches of one thread hold.
  static constexpr std::ptrdiff_t kNearLength = std::ptrdiff_t{1} << 18;

  std::ptrdiff_t part(Index element) const { return element >> shift_; }
  Index* begins_of(std::ptrdiff_t chunk) { return begins_.data() + chunk * (parts_ + 1); }

  std::span<const Index> elements_;
  T* out_;
  int threads_;
  Chunks chunks_;
  int shift_ = 13;
  std::ptrdiff_t parts_ = 0;
  std::span<T> collected_;
  std::span<Placed> grouped_;
  std::span<Index> begins_;
};

}  // namespace lapsum::cpu
