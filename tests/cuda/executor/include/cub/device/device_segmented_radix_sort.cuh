// cub::DeviceSegmentedRadixSort: a stable sort of each segment, by the wanted bits of the keys.
// Items outside of all segments are left alone.
#pragma once

#include "cub/device/sort.h"

namespace cub {

struct DeviceSegmentedRadixSort {
#define EXECUTOR_SEGMENTED_RADIX_SORT(suffix, descending)                                         \
  template <class Key, class Value, class Begins, class Ends>                                     \
  static cudaError_t SortPairs##suffix(void* storage, std::size_t& bytes, const Key* keys_in,     \
                                       Key* keys_out, const Value* values_in, Value* values_out,  \
                                       std::int64_t items, std::int64_t segments, Begins begins,  \
                                       Ends ends, int begin_bit = 0,                              \
                                       int end_bit = sizeof(Key) * 8, cudaStream_t = nullptr) {   \
    cudaError_t error;                                                                            \
    if (executor::storage_given(storage, bytes, static_cast<std::size_t>(items), error)) {        \
      for (std::int64_t s = 0; s < segments; ++s) {                                               \
        executor::sort_segment(                                                                   \
            keys_in, keys_out, values_in, values_out, static_cast<std::ptrdiff_t>(begins[s]),     \
            static_cast<std::ptrdiff_t>(ends[s]), {begin_bit, end_bit, descending});              \
      }                                                                                           \
    }                                                                                             \
    return error;                                                                                 \
  }                                                                                               \
  template <class Key, class Value, class Begins, class Ends>                                     \
  static cudaError_t SortPairs##suffix(                                                           \
      void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values,    \
      std::int64_t items, std::int64_t segments, Begins begins, Ends ends, int begin_bit = 0,     \
      int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {                             \
    const cudaError_t error = SortPairs##suffix(                                                  \
        storage, bytes, static_cast<const Key*>(keys.Current()), keys.Alternate(),                \
        static_cast<const Value*>(values.Current()), values.Alternate(), items, segments, begins, \
        ends, begin_bit, end_bit, stream);                                                        \
    if (storage && error == cudaSuccess) {                                                        \
      keys.selector ^= 1;                                                                         \
      values.selector ^= 1;                                                                       \
    }                                                                                             \
    return error;                                                                                 \
  }                                                                                               \
  template <class Key, class Begins, class Ends>                                                  \
  static cudaError_t SortKeys##suffix(                                                            \
      void* storage, std::size_t& bytes, const Key* keys_in, Key* keys_out, std::int64_t items,   \
      std::int64_t segments, Begins begins, Ends ends, int begin_bit = 0,                         \
      int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {                             \
    return SortPairs##suffix(storage, bytes, keys_in, keys_out,                                   \
                             static_cast<const NullType*>(nullptr),                               \
                             static_cast<NullType*>(nullptr), items, segments, begins, ends,      \
                             begin_bit, end_bit, stream);                                         \
  }
  EXECUTOR_SEGMENTED_RADIX_SORT(, false)
  EXECUTOR_SEGMENTED_RADIX_SORT(Descending, true)
#undef EXECUTOR_SEGMENTED_RADIX_SORT
};

}  // namespace cub
