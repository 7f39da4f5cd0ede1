// What the stand-ins for CUB share: raw places for values in shared memory, the items of a thread,
// values that stand for undefined ones.
#pragma once

#include <cstring>

#include "cuda_runtime.h"

namespace executor {

/// Room for a T that is not constructed: shared memory has no constructors.
template <class T>
struct Raw {
  alignas(T) unsigned char bytes[sizeof(T)];

  void set(const T& value) { *reinterpret_cast<T*>(bytes) = value; }
  T get() const { return *reinterpret_cast<const T*>(bytes); }
};

template <class T>
T undefined() {
  Raw<T> raw;
  std::memset(raw.bytes, 0xff, sizeof(T));
  return raw.get();
}

struct Plus {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

template <class T, int kItems, class Op>
T reduce_items(const T (&items)[kItems], Op op) {
  T result = items[0];
  for (int i = 1; i < kItems; ++i) result = op(result, items[i]);
  return result;
}

inline void check_block(int threads, const Site& site) {
  if (static_cast<int>(blockDim.x * blockDim.y * blockDim.z) != threads) {
    fail("the block is not of the size that this CUB primitive is made for", site);
  }
}

}  // namespace executor
