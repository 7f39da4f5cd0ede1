// cub::DeviceRadixSort: one stable sort of all items, by the wanted bits of the keys.
#pragma once

#include "cub/device/sort.h"

namespace cub {

struct DeviceRadixSort {
#define EXECUTOR_RADIX_SORT(suffix, descending)                                                    \
  template <class Key, class Value, class Count>                                                   \
  static cudaError_t SortPairs##suffix(void* storage, std::size_t& bytes, const Key* keys_in,      \
                                       Key* keys_out, const Value* values_in, Value* values_out,   \
                                       Count items, int begin_bit = 0,                             \
                                       int end_bit = sizeof(Key) * 8, cudaStream_t = nullptr) {    \
    cudaError_t error;                                                                             \
    if (executor::storage_given(storage, bytes, static_cast<std::size_t>(items), error)) {         \
      executor::sort_segment(keys_in, keys_out, values_in, values_out, 0,                          \
                             static_cast<std::ptrdiff_t>(items),                                   \
                             {begin_bit, end_bit, descending});                                    \
    }                                                                                              \
    return error;                                                                                  \
  }                                                                                                \
  template <class Key, class Value, class Count>                                                   \
  static cudaError_t SortPairs##suffix(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys, \
                                       DoubleBuffer<Value>& values, Count items,                   \
                                       int begin_bit = 0, int end_bit = sizeof(Key) * 8,           \
                                       cudaStream_t stream = nullptr) {                            \
    const cudaError_t error =                                                                      \
        SortPairs##suffix(storage, bytes, static_cast<const Key*>(keys.Current()),                 \
                          keys.Alternate(), static_cast<const Value*>(values.Current()),           \
                          values.Alternate(), items, begin_bit, end_bit, stream);                  \
    if (storage && error == cudaSuccess) {                                                         \
      keys.selector ^= 1;                                                                          \
      values.selector ^= 1;                                                                        \
    }                                                                                              \
    return error;                                                                                  \
  }                                                                                                \
  template <class Key, class Count>                                                                \
  static cudaError_t SortKeys##suffix(                                                             \
      void* storage, std::size_t& bytes, const Key* keys_in, Key* keys_out, Count items,           \
      int begin_bit = 0, int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {           \
    return SortPairs##suffix(storage, bytes, keys_in, keys_out,                                    \
                             static_cast<const NullType*>(nullptr),                                \
                             static_cast<NullType*>(nullptr), items, begin_bit, end_bit, stream);  \
  }
  EXECUTOR_RADIX_SORT(, false)
  EXECUTOR_RADIX_SORT(Descending, true)
#undef EXECUTOR_RADIX_SORT
};

}  // namespace cub
