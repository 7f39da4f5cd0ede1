// Floats are mapped to unsigned keys of the same order; keys are sorted by radix, or by comparison
// where a row is too short to pay for the counters.
#include "cpu/primitives/argsort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "cpu/primitives/parallel.h"

namespace lapsum::cpu {
namespace {

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr std::ptrdiff_t kRadixPays = 800;
constexpr std::ptrdiff_t kThreadPays = 1 << 15;

using Counters = std::array<Index, kDigits>;

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
typename KeyOf<T>::type encode(T x) {
  using Key = typename KeyOf<T>::type;
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  if (x != x) return ~Key{0};
  const Key bits = std::bit_cast<Key>(x + T{0});  // -0 + 0 is +0
  return bits & sign ? ~bits : bits | sign;
}

template <class T>
T decode(typename KeyOf<T>::type key) {
  using Key = typename KeyOf<T>::type;
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  return std::bit_cast<T>(key & sign ? key & ~sign : ~key);
}

template <class Key>
struct KeyAndIndex {
  Key key;
  Index index;
  void set_index(Index i) { index = i; }
  friend bool operator<(const KeyAndIndex& a, const KeyAndIndex& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

template <class Key>
struct KeyOnly {
  Key key;
  void set_index(Index) {}
  friend bool operator<(const KeyOnly& a, const KeyOnly& b) { return a.key < b.key; }
};

// One pass of the radix sort by the digit at `shift`; false if all keys share it and nothing moved.
template <class Item>
bool radix_pass(const Item* from, std::ptrdiff_t n, int shift, Item* to,
                std::vector<Counters>& counters) {
  const auto parts = static_cast<std::ptrdiff_t>(counters.size());
  const int threads = static_cast<int>(parts);
  const auto begin_of = [&](std::ptrdiff_t part) { return n * part / parts; };
  const auto digit = [&](const Item& item) {
    return static_cast<std::size_t>(item.key >> shift) & (kDigits - 1);
  };
  parallel_for(parts, threads, [&](std::ptrdiff_t part, int) {
    Counters& count = counters[static_cast<std::size_t>(part)];
    count.fill(0);
    for (std::ptrdiff_t i = begin_of(part); i < begin_of(part + 1); ++i) ++count[digit(from[i])];
  });
  Index position = 0;
  for (std::size_t d = 0; d < kDigits; ++d) {
    const Index first = position;
    for (Counters& count : counters) position += std::exchange(count[d], position);
    if (position - first == static_cast<Index>(n)) return false;
  }
  parallel_for(parts, threads, [&](std::ptrdiff_t part, int) {
    Counters& next = counters[static_cast<std::size_t>(part)];
    for (std::ptrdiff_t i = begin_of(part); i < begin_of(part + 1); ++i) {
      to[next[digit(from[i])]++] = from[i];
    }
  });
  return true;
}

template <class Item, class T>
std::span<Item> sort_items(const T* x, std::ptrdiff_t n, bool negate, Arena& arena, int threads) {
  std::span<Item> items = arena.take<Item>(n);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      items[i].key = encode(negate ? -x[i] : x[i]);
      items[i].set_index(static_cast<Index>(i));
    }
  });
  if (n < kRadixPays) {
    std::sort(items.begin(), items.end());
    return items;
  }
  std::span<Item> other = arena.take<Item>(n);
  std::vector<Counters> counters(n < kThreadPays ? 1 : static_cast<std::size_t>(threads));
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(items[0].key)); shift += kDigitBits) {
    if (radix_pass(items.data(), n, shift, other.data(), counters)) std::swap(items, other);
  }
  return items;
}

}  // namespace

template <class T>
void argsort(const T* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order, Arena& arena,
             int threads) {
  using Key = typename KeyOf<T>::type;
  const Arena::Scope scope(arena);
  const auto unpack = [&](const auto& items, auto&& take_index) {
    for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t i = begin; i < end; ++i) {
        sorted[i] = static_cast<double>(decode<T>(items[i].key));
        take_index(i, items[i]);
      }
    });
  };
  if (order) {
    unpack(sort_items<KeyAndIndex<Key>>(x, n, negate, arena, threads),
           [&](std::ptrdiff_t i, const auto& item) { order[i] = item.index; });
  } else {
    unpack(sort_items<KeyOnly<Key>>(x, n, negate, arena, threads),
           [](std::ptrdiff_t, const auto&) {});
  }
}

template void argsort(const float*, std::ptrdiff_t, bool, double*, Index*, Arena&, int);
template void argsort(const double*, std::ptrdiff_t, bool, double*, Index*, Arena&, int);

}  // namespace lapsum::cpu
