// What the stand-ins for CUB's device-wide sorts share: the order of keys, and a stable sort of one
// segment. A temporary storage that was not asked for by the first call is refused.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "cuda_runtime.h"

namespace cub {

/// Keys or values that go back and forth between two arrays; `selector` says where they are.
template <class T>
struct DoubleBuffer {
  T* d_buffers[2];
  int selector = 0;

  DoubleBuffer() : d_buffers{nullptr, nullptr} {}
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

struct NullType {};

}  // namespace cub

namespace executor {

/// Unsigned numbers in the order of the keys, as a radix sort sees them; -0 and +0 are the same.
template <class Key>
std::uint64_t radix(Key key) {
  if constexpr (std::is_floating_point_v<Key>) {
    using Bits = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(Key) - 1);
    const Bits bits = std::bit_cast<Bits>(key == 0 ? Key{0} : key);
    return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : bits | kSign;
  } else if constexpr (std::is_signed_v<Key>) {
    using Bits = std::make_unsigned_t<Key>;
    return static_cast<Bits>(static_cast<Bits>(key) ^ Bits{1} << (8 * sizeof(Key) - 1));
  } else {
    return key;
  }
}

struct SortBits {
  int begin, end;
  bool descending;
};

template <class Key, class Value>
void sort_segment(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out,
                  std::ptrdiff_t begin, std::ptrdiff_t end, SortBits bits) {
  const auto part = [&](std::ptrdiff_t i) {
    const std::uint64_t all = radix(keys_in[i]);
    const std::uint64_t upper = bits.end >= 64 ? all : all & ((std::uint64_t{1} << bits.end) - 1);
    return upper >> bits.begin;
  };
  std::vector<std::ptrdiff_t> order(
      static_cast<std::size_t>(std::max<std::ptrdiff_t>(end - begin, 0)));
  std::iota(order.begin(), order.end(), begin);
  std::stable_sort(order.begin(), order.end(), [&](std::ptrdiff_t a, std::ptrdiff_t b) {
    return bits.descending ? part(a) > part(b) : part(a) < part(b);
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::ptrdiff_t to = begin + static_cast<std::ptrdiff_t>(i);
    keys_out[to] = keys_in[order[i]];
    if constexpr (!std::is_same_v<Value, cub::NullType>) values_out[to] = values_in[order[i]];
  }
}

/// The first call, without storage, asks how much is needed; true if the second one may go on.
inline bool storage_given(void* storage, std::size_t& bytes, std::size_t items,
                          cudaError_t& error) {
  const std::size_t needed = 256 + items;
  error = cudaSuccess;
  if (!storage) {
    bytes = needed;
    return false;
  }
  if (bytes < needed) error = cudaErrorInvalidValue;
  return error == cudaSuccess;
}

}  // namespace executor
