// cub::DeviceSegmentedSort: as DeviceSegmentedRadixSort on all bits; here even the sorts that do
// not promise it are stable.
#pragma once

#include "cub/device/device_segmented_radix_sort.cuh"

namespace cub {

struct DeviceSegmentedSort {
#define EXECUTOR_SEGMENTED_SORT(prefix, suffix)                                                   \
  template <class Key, class Value, class Begins, class Ends>                                     \
  static cudaError_t prefix##SortPairs##suffix(                                                   \
      void* storage, std::size_t& bytes, const Key* keys_in, Key* keys_out,                       \
      const Value* values_in, Value* values_out, std::int64_t items, std::int64_t segments,       \
      Begins begins, Ends ends, cudaStream_t stream = nullptr) {                                  \
    return DeviceSegmentedRadixSort::SortPairs##suffix(storage, bytes, keys_in, keys_out,         \
                                                       values_in, values_out, items, segments,    \
                                                       begins, ends, 0, sizeof(Key) * 8, stream); \
  }                                                                                               \
  template <class Key, class Begins, class Ends>                                                  \
  static cudaError_t prefix##SortKeys##suffix(                                                    \
      void* storage, std::size_t& bytes, const Key* keys_in, Key* keys_out, std::int64_t items,   \
      std::int64_t segments, Begins begins, Ends ends, cudaStream_t stream = nullptr) {           \
    return DeviceSegmentedRadixSort::SortKeys##suffix(storage, bytes, keys_in, keys_out, items,   \
                                                      segments, begins, ends, 0, sizeof(Key) * 8, \
                                                      stream);                                    \
  }
  EXECUTOR_SEGMENTED_SORT(, )
  EXECUTOR_SEGMENTED_SORT(, Descending)
  EXECUTOR_SEGMENTED_SORT(Stable, )
  EXECUTOR_SEGMENTED_SORT(Stable, Descending)
#undef EXECUTOR_SEGMENTED_SORT
};

}  // namespace cub
