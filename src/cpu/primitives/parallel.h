// Threads over rows and inside a long row. Work inside a row is cut into chunks by its length alone,
// whatever the number of threads, so that a result has the same bits for any thread count.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <vector>

#include "cpu/primitives/arena.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace lapsum::cpu {

/// The longest part of a row that one thread takes at a time.
inline constexpr std::ptrdiff_t kChunk = std::ptrdiff_t{1} << 14;

/// How many threads a call that asks for `threads` gets: what OpenMP would take for 0, not more than
/// the machine can bear, and one in a forked process: OpenMP's threads, whoever started them, do not
/// survive the fork, and waiting for them would last for ever.
int usable_threads(int threads);

/// As a grain: one part for each thread, the same in every loop of that many, so that a thread finds in
/// its caches what it has made.
inline constexpr std::ptrdiff_t kOnePart = 0;

/// Indices in one part for each thread. A thread takes its own part `grain` at a time, and what is left
/// of the others' when it is through: in loops of the same length it comes back to the same indices,
/// and does not wait for a slower one.
class Parts {
 public:
  Parts(std::ptrdiff_t count, int threads) : parts_(static_cast<std::size_t>(threads)) {
    for (int t = 0; t < threads; ++t) {
      Part& part = parts_[static_cast<std::size_t>(t)];
      part.next = count * t / threads;
      part.end = count * (t + 1) / threads;
    }
  }

  /// at(i) for what `thread` gets.
  template <class At>
  void work(int thread, std::ptrdiff_t grain, At&& at) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      Part& part = parts_[(static_cast<std::size_t>(thread) + p) % parts_.size()];
      for (;;) {
        const std::ptrdiff_t begin = part.next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= part.end) break;
        for (std::ptrdiff_t i = begin; i < std::min(begin + grain, part.end); ++i) at(i);
      }
    }
  }

 private:
  struct alignas(kCacheLine) Part {
    std::atomic<std::ptrdiff_t> next;
    std::ptrdiff_t end;
  };
  std::vector<Part> parts_;
};

/// body(i, thread) for i in [0, count), handed out `grain` at a time. One thread never enters OpenMP;
/// an exception of any body is thrown again here, after all threads are done.
template <class Body>
void parallel_for(std::ptrdiff_t count, int threads, Body&& body, std::ptrdiff_t grain = kOnePart) {
  threads = static_cast<int>(std::min<std::ptrdiff_t>(threads, count));
  if (threads <= 1) {
    for (std::ptrdiff_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
#ifdef _OPENMP
  std::exception_ptr failure;
  const auto at = [&](std::ptrdiff_t i) {
    try {
      body(i, omp_get_thread_num());
    } catch (...) {
#pragma omp critical(lapsum_failure)
      failure = std::current_exception();
    }
  };
  if (grain == kOnePart) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::ptrdiff_t i = 0; i < count; ++i) at(i);
  } else {
    Parts parts(count, threads);
#pragma omp parallel num_threads(threads)
    parts.work(omp_get_thread_num(), grain, at);
  }
  if (failure) std::rethrow_exception(failure);
#endif
}

/// The chunks of [0, n): of at most kChunk, and if they are few, all of about the same length and as
/// many for each of two or four threads.
struct Chunks {
  static constexpr std::ptrdiff_t kStep = 64;  ///< each begins at a multiple of it

  explicit Chunks(std::ptrdiff_t n)
      : Chunks(n, n <= kChunk       ? 1
                  : n <= 2 * kChunk ? 2
                                    : 4 * ((n + 4 * kChunk - 1) / (4 * kChunk))) {}
  /// At most that many of about the same length.
  Chunks(std::ptrdiff_t n, std::ptrdiff_t parts) : n(n), length(kChunk) {
    if (parts > 1) length = (n + parts * kStep - 1) / (parts * kStep) * kStep;
  }

  std::ptrdiff_t count() const { return (n + length - 1) / length; }
  std::ptrdiff_t begin(std::ptrdiff_t c) const { return c * length; }
  std::ptrdiff_t end(std::ptrdiff_t c) const { return std::min(n, (c + 1) * length); }
  /// Which one begins at `begin`.
  std::ptrdiff_t at(std::ptrdiff_t begin) const { return begin / length; }

  std::ptrdiff_t n, length;
};

/// body(begin, end) for the chunks of [0, n).
template <class Body>
void for_each_chunk(const Chunks& chunks, int threads, Body&& body) {
  parallel_for(chunks.count(), threads,
               [&](std::ptrdiff_t c, int) { body(chunks.begin(c), chunks.end(c)); });
}
template <class Body>
void for_each_chunk(std::ptrdiff_t n, int threads, Body&& body) {
  for_each_chunk(Chunks(n), threads, body);
}

/// body(begin, end) for parts of [0, n) where results do not depend on how it is cut: chunks, and of what
/// is but one chunk a part for each thread.
template <class Body>
void for_each_part(std::ptrdiff_t n, int threads, Body&& body) {
  constexpr std::ptrdiff_t kLeast = 4096;
  const std::ptrdiff_t parts = std::min<std::ptrdiff_t>(threads, n / kLeast);
  for_each_chunk(n > kChunk || parts < 2 ? Chunks(n) : Chunks(n, parts), threads, body);
}

/// The sum of body(begin, end) over the chunks of [0, n), always added in the same order.
template <class Sum, class Body>
Sum sum_chunks(std::ptrdiff_t n, int threads, Body&& body) {
  const Chunks chunks(n);
  if (chunks.count() <= 1) return body(std::ptrdiff_t{0}, n);
  std::vector<Sum> parts(static_cast<std::size_t>(chunks.count()));
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    parts[static_cast<std::size_t>(chunks.at(begin))] = body(begin, end);
  });
  Sum total = parts[0];
  for (std::size_t c = 1; c < parts.size(); ++c) total += parts[c];
  return total;
}

/// The sum of f(i) over [0, n).
template <class F>
double sum_over(std::ptrdiff_t n, int threads, F&& f) {
  return sum_chunks<double>(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    double sum = 0;
    for (std::ptrdiff_t i = begin; i < end; ++i) sum += f(i);
    return sum;
  });
}

/// How many elements are worth a thread: of rows that are sorted, searched in lanes or pulled several at
/// a time, and of those that are only passed over a few times. They take some 10 to 30 microseconds.
inline constexpr std::ptrdiff_t kWorthSorted = 1 << 12;
inline constexpr std::ptrdiff_t kWorthPassed = 1 << 15;

/// The usable threads, or one where there is too little for two.
inline int threads_for(std::ptrdiff_t elements, int threads, std::ptrdiff_t worth) {
  return elements < 2 * worth ? 1 : usable_threads(threads);
}

/// body(row, arena, threads) for every row; `threads` is what the row may use inside. Rows are spread
/// over threads when there are enough of them, otherwise long rows are processed one after another.
/// What a row takes from the arena is given back at its end.
template <class Body>
void for_each_row(std::ptrdiff_t rows, std::ptrdiff_t length, int threads, Body&& body,
                  std::ptrdiff_t worth = kWorthSorted) {
  threads = threads_for(rows * length, threads, worth);
  const bool inside = std::min<std::ptrdiff_t>(threads, Chunks(length).count()) > rows;
  const int outer = inside ? 1 : threads;
  const int inner = inside ? threads : 1;
  // Neighbouring rows share lines of cache, their numbers more so; but no thread should wait long.
  const std::ptrdiff_t grain = std::max<std::ptrdiff_t>(
      1, std::min(kChunk / std::max<std::ptrdiff_t>(length, 1), rows / (8 * outer)));
  Scratch scratch(outer);
  parallel_for(
      rows, outer,
      [&](std::ptrdiff_t row, int thread) {
        Arena& arena = scratch[thread];
        const Arena::Scope scope(arena);
        body(row, arena, inner);
      },
      grain);
}

/// body(begin, end, arena) for groups [begin, end) of at most `most` rows, each in one thread.
template <class Body>
void for_each_group(std::ptrdiff_t rows, std::ptrdiff_t most, std::ptrdiff_t length, int threads,
                    Body&& body, std::ptrdiff_t worth = kWorthSorted) {
  const auto on_group = [&](std::ptrdiff_t group, Arena& arena, int) {
    const std::ptrdiff_t begin = group * most;
    body(begin, std::min(begin + most, rows), arena);
  };
  for_each_row((rows + most - 1) / most, most * length, threads, on_group, worth);
}

}  // namespace lapsum::cpu
