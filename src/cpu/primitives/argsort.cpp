// Floats are mapped to unsigned keys of the same order, which Highway sorts; a key and its index
// share one 64-bit number. Two halves of a long row are sorted by two threads and merged.
#include "cpu/primitives/argsort.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "cpu/primitives/parallel.h"

namespace lapsum::cpu {
namespace {

constexpr std::ptrdiff_t kThreadPays = 1 << 15;

template <class T>
struct KeyOf;
template <>
struct KeyOf<float> {
  using type = std::uint32_t;
};
template <>
struct KeyOf<double> {
  using type = std::uint64_t;
};
template <class T>
using Key = typename KeyOf<T>::type;

// All ones for a number whose highest bit is set, else zero.
template <class U>
U filled(U bits) {
  return U{0} - (bits >> (8 * sizeof(U) - 1));
}

template <class T>
constexpr Key<T> kSign = Key<T>{1} << (8 * sizeof(T) - 1);

/// The key of x, or of -x if `flip` is the sign bit. No branches, so that compilers vectorise it.
template <class T>
Key<T> encode(T x, Key<T> flip) {
  const Key<T> bits = std::bit_cast<Key<T>>(x + T{0}) ^ flip;
  const Key<T> signed_zero = Key<T>{0} - static_cast<Key<T>>(x == 0);
  const Key<T> nan = Key<T>{0} - static_cast<Key<T>>(x != x);
  return ((bits & ~signed_zero) ^ (filled(bits & ~signed_zero) | kSign<T>)) | nan;
}

template <class T>
T decode(Key<T> key) {
  return std::bit_cast<T>(key ^ (~filled(key) | kSign<T>));
}

// How many of the first `count` numbers of the merged sequence come from `a`.
template <class U>
std::ptrdiff_t taken_from(std::span<const U> a, std::span<const U> b, std::ptrdiff_t count) {
  std::ptrdiff_t low = std::max<std::ptrdiff_t>(0, count - std::ssize(b));
  std::ptrdiff_t high = std::min(count, std::ssize(a));
  while (low < high) {
    const std::ptrdiff_t middle = low + (high - low) / 2;
    if (a[middle] <= b[count - middle - 1]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Sorts the numbers; the result may lie in `other`, which is returned then.
template <class U>
std::span<U> sort_numbers(std::span<U> numbers, std::span<U> other, int threads) {
  const std::ptrdiff_t n = std::ssize(numbers);
  const auto sort = [](std::span<U> part) {
    hwy::Sorter()(part.data(), part.size(), hwy::SortAscending());
  };
  if (threads < 2 || n < kThreadPays) {
    sort(numbers);
    return numbers;
  }
  const auto half = static_cast<std::size_t>(n / 2);
  const std::span<U> a = numbers.first(half);
  const std::span<U> b = numbers.subspan(half);
  parallel_for(2, 2, [&](std::ptrdiff_t part, int) { sort(part == 0 ? a : b); });
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    const std::ptrdiff_t i = taken_from<U>(a, b, begin);
    const std::ptrdiff_t i_end = taken_from<U>(a, b, end);
    std::merge(a.begin() + i, a.begin() + i_end, b.begin() + (begin - i), b.begin() + (end - i_end),
               other.begin() + begin);
  });
  return other;
}

template <class T>
void sort_keys(const T* x, std::ptrdiff_t n, Key<T> flip, double* sorted, Arena& arena,
               int threads) {
  std::span<Key<T>> keys = arena.take<Key<T>>(n);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) keys[i] = encode(x[i], flip);
  });
  keys = sort_numbers(keys, arena.take<Key<T>>(n), threads);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i)
      sorted[i] = static_cast<double>(decode<T>(keys[i]));
  });
}

// Where 32 bits of all keys differ first: shifting by this keeps them on top. Keys that still tie
// are told apart afterwards.
template <class T>
int window(const T* x, std::ptrdiff_t n, Key<T> flip) {
  if constexpr (sizeof(T) == 4) return 0;
  Key<T> all_set = ~Key<T>{0};
  Key<T> any_set = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const Key<T> key = encode(x[i], flip);
    all_set &= key;
    any_set |= key;
  }
  return std::max(0, 32 - std::countl_zero(all_set ^ any_set));
}

template <class T>
void sort_pairs(const T* x, std::ptrdiff_t n, Key<T> flip, double* sorted, Index* order,
                Arena& arena, int threads) {
  std::span<std::uint64_t> pairs = arena.take<std::uint64_t>(n);
  const int shift = window(x, n, flip);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const auto key = static_cast<std::uint32_t>(encode(x[i], flip) >> shift);
      pairs[i] = std::uint64_t{key} << 32 | static_cast<std::uint32_t>(i);
    }
  });
  pairs = sort_numbers(pairs, arena.take<std::uint64_t>(n), threads);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) order[i] = static_cast<Index>(pairs[i]);
  });
  const auto key_of = [&](Index i) { return encode(x[i], flip); };
  if (shift > 0) {
    for (std::ptrdiff_t begin = 0, end; begin < n; begin = end) {
      for (end = begin + 1; end < n && pairs[end] >> 32 == pairs[begin] >> 32;) ++end;
      if (end - begin < 2) continue;
      std::stable_sort(order + begin, order + end,
                       [&](Index a, Index b) { return key_of(a) < key_of(b); });
    }
  }
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const Key<T> key = sizeof(T) == 4 ? static_cast<Key<T>>(pairs[i] >> 32) : key_of(order[i]);
      sorted[i] = static_cast<double>(decode<T>(key));
    }
  });
}

}  // namespace

template <class T>
void argsort(const T* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order, Arena& arena,
             int threads) {
  const Arena::Scope scope(arena);
  const Key<T> flip = negate ? kSign<T> : 0;
  if (order) {
    sort_pairs(x, n, flip, sorted, order, arena, threads);
  } else {
    sort_keys(x, n, flip, sorted, arena, threads);
  }
}

template void argsort(const float*, std::ptrdiff_t, bool, double*, Index*, Arena&, int);
template void argsort(const double*, std::ptrdiff_t, bool, double*, Index*, Arena&, int);

}  // namespace lapsum::cpu
