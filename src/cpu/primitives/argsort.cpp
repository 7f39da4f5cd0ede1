// Where the order is wanted, elements are sorted in buckets or by their digits; threads take a part of
// the values each, or share the buckets of a long row. What that cannot do is compared: values are
// mapped to unsigned keys of the same order, which Highway sorts, each thread a part of them; a key and
// its index share one 64-bit number.
#include "cpu/primitives/argsort.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "cpu/primitives/digits.h"
#include "cpu/primitives/ordered_keys.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/partition.h"
#include "cpu/primitives/radix_sort.h"

namespace lapsum::cpu {
namespace {

constexpr std::ptrdiff_t kThreadPays = 1 << 15;

// The key of a double: as ordered_keys.h has them for floats.
std::uint64_t encode(double x, bool negate) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>((negate ? -x : x) + 0.0);  // -0 + 0 is +0
  const std::uint64_t key = bits ^ ((std::uint64_t{0} - (bits >> 63)) | kSign);
  return x != x ? ~std::uint64_t{0} : key;
}

double decode(std::uint64_t key) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return std::bit_cast<double>(key ^ (((key >> 63) - 1) | kSign));
}

// Sorts the numbers; the result may lie in `other`, which is returned then.
template <class U>
std::span<U> sort_numbers(std::span<U> numbers, std::span<U> other, Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(numbers);
  const auto sort = [](std::span<U> part) {
    hwy::Sorter()(part.data(), part.size(), hwy::SortAscending());
  };
  if (threads < 2 || n < kThreadPays) {
    sort(numbers);
    return numbers;
  }
  const auto begins = part_by_value<U>(numbers, threads, other.data(), arena, threads);
  parallel_for(std::ssize(begins) - 1, threads, [&](std::ptrdiff_t p, int) {
    const auto size = static_cast<std::size_t>(begins[p + 1] - begins[p]);
    sort(other.subspan(static_cast<std::size_t>(begins[p]), size));
  });
  return other;
}

void sort_keys(const float* x, std::ptrdiff_t n, bool negate, double* sorted, Arena& arena,
               int threads) {
  std::span<std::uint32_t> keys = arena.take<std::uint32_t>(n);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    float_keys(x + begin, end - begin, negate, keys.data() + begin);
  });
  keys = sort_numbers(keys, arena.take<std::uint32_t>(n), arena, threads);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    keys_to_values(keys.data() + begin, end - begin, sorted + begin);
  });
}

void sort_keys(const double* x, std::ptrdiff_t n, bool negate, double* sorted, Arena& arena,
               int threads) {
  std::span<std::uint64_t> keys = arena.take<std::uint64_t>(n);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) keys[i] = encode(x[i], negate);
  });
  keys = sort_numbers(keys, arena.take<std::uint64_t>(n), arena, threads);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) sorted[i] = decode(keys[i]);
  });
}

void sort_pairs(const float* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order,
                Arena& arena, int threads) {
  std::span<std::uint64_t> pairs = arena.take<std::uint64_t>(n);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    float_pairs(x + begin, end - begin, negate, static_cast<Index>(begin), pairs.data() + begin);
  });
  pairs = sort_numbers(pairs, arena.take<std::uint64_t>(n), arena, threads);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    pairs_to_values(pairs.data() + begin, end - begin, sorted + begin, order + begin);
  });
}

// 32 bits of a double's key and the index share one number: those from the first bit on in which
// the keys of the row differ. Keys that still tie are told apart afterwards.
void sort_pairs(const double* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order,
                Arena& arena, int threads) {
  std::span<std::uint64_t> pairs = arena.take<std::uint64_t>(n);
  std::uint64_t all_set = ~std::uint64_t{0};
  std::uint64_t any_set = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const std::uint64_t key = encode(x[i], negate);
    all_set &= key;
    any_set |= key;
  }
  const int shift = std::max(0, 32 - std::countl_zero(all_set ^ any_set));
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      pairs[i] = encode(x[i], negate) >> shift << 32 | static_cast<Index>(i);
    }
  });
  pairs = sort_numbers(pairs, arena.take<std::uint64_t>(n), arena, threads);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) order[i] = static_cast<Index>(pairs[i]);
  });
  if (shift > 0) {
    for (std::ptrdiff_t begin = 0, end; begin < n; begin = end) {
      for (end = begin + 1; end < n && pairs[end] >> 32 == pairs[begin] >> 32;) ++end;
      if (end - begin < 2) continue;
      std::stable_sort(order + begin, order + end, [&](Index a, Index b) {
        return encode(x[a], negate) < encode(x[b], negate);
      });
    }
  }
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) sorted[i] = decode(encode(x[order[i]], negate));
  });
}

// By digits: whether they have sorted the elements of a row that is not long; `names` as there.
template <class T>
bool sort_near(const T* x, std::ptrdiff_t n, bool negate, const Index* names, double* sorted,
               Index* order, Arena& arena) {
  const Arena::Scope scope(arena);
  const RadixRoom room{arena.take<std::uint32_t>(n), arena.take<std::uint32_t>(n)};
  return radix_sort(x, n, negate, names, sorted, order, room);
}

// The same for any finite values that have names, always: by comparing, where digits do not do.
template <class T>
void sort_part(const T* x, std::ptrdiff_t n, bool negate, const Index* names, double* sorted,
               Index* order, Arena& arena) {
  if (n <= kRadixLength && sort_near(x, n, negate, names, sorted, order, arena)) return;
  const Arena::Scope scope(arena);
  const std::span<Index> places = arena.take<Index>(n), given = arena.take<Index>(n);
  std::copy_n(names, n, given.begin());  // they may lie where the order goes
  sort_pairs(x, n, negate, sorted, places.data(), arena, 1);
  for (std::ptrdiff_t i = 0; i < n; ++i) order[i] = given[places[i]];
}

// Each thread takes the values between two of a sample, from all of the row, so that none writes where
// another one reads: in a row that the caches hold they would wait for each other longer than they work.
template <class T>
void sort_by_threads(const T* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order,
                     Arena& arena, int threads) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const T sign = negate ? T(-1) : T(1);
  std::array<T, 512> sample;
  const std::ptrdiff_t step = n / std::ssize(sample);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    sample[i] = sign * x[step * static_cast<std::ptrdiff_t>(i)];
  }
  std::sort(sample.begin(), sample.end());
  const auto cut = [&](std::ptrdiff_t p) {
    if (p == 0) return -kInf;
    return p == threads ? kInf : sample[sample.size() * static_cast<std::size_t>(p) / threads];
  };
  const std::span<Arena> arenas = arena.for_threads(threads);
  parallel_for(threads, threads, [&](std::ptrdiff_t p, int thread) {
    Arena& own = arenas[static_cast<std::size_t>(thread)];
    const Arena::Scope scope(own);
    T* const values = own.take<T>(n + kTakenRoom).data();
    Index* const names = own.take<Index>(n + kTakenRoom).data();
    const auto [below, count] = take_between(x, n, sign, cut(p), cut(p + 1), values, names);
    sort_part(values, count, negate, names, sorted + below, order + below, own);
  });
}

// Whether buckets that threads share have sorted a long row.
template <class T>
bool sort_in_buckets(const T* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order,
                     Arena& arena, int threads) {
  const Buckets<T> buckets = cut_by_value(x, n, negate, order, arena, threads);
  if (buckets.begins.empty()) return false;
  const std::span<Arena> arenas = arena.for_threads(threads);
  const auto sort = [&](std::ptrdiff_t b, int thread) {
    const std::ptrdiff_t begin = buckets.begins[b];
    sort_part(buckets.values.data() + begin, buckets.size(b), negate, order + begin, sorted + begin,
              order + begin, arenas[static_cast<std::size_t>(thread)]);
  };
  parallel_for(buckets.count(), threads, sort, 1);  // they are of any size
  return true;
}

// Whether one of these ways has sorted a row: not if it is long and its values crowd, or not finite.
template <class T>
bool sort_by_digits(const T* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order,
                    Arena& arena, int threads) {
  if (n > kRadixLength) return sort_in_buckets(x, n, negate, sorted, order, arena, threads);
  if (threads < 2 || n < kThreadPays) {
    return sort_near(x, n, negate, nullptr, sorted, order, arena);
  }
  if (!extent(x, n).finite) return false;
  sort_by_threads(x, n, negate, sorted, order, arena, threads);
  return true;
}

}  // namespace

template <class T>
void argsort(const T* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order, Arena& arena,
             int threads, Sorting sorting) {
  const Arena::Scope scope(arena);
  // Keys of floats alone are short, and compared faster than their digits are counted.
  const bool by_digits = sorting == Sorting::fastest && (order || sizeof(T) > sizeof(float));
  if (by_digits) {
    const Arena::Scope inner(arena);
    Index* to = order ? order : arena.take<Index>(n).data();
    if (sort_by_digits(x, n, negate, sorted, to, arena, threads)) return;
  }
  if (order) {
    sort_pairs(x, n, negate, sorted, order, arena, threads);
  } else {
    sort_keys(x, n, negate, sorted, arena, threads);
  }
}

template void argsort(const float*, std::ptrdiff_t, bool, double*, Index*, Arena&, int, Sorting);
template void argsort(const double*, std::ptrdiff_t, bool, double*, Index*, Arena&, int, Sorting);

}  // namespace lapsum::cpu
