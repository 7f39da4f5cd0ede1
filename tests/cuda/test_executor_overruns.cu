// Planted bugs that AddressSanitizer must see: accesses beside shared memory.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "launch.h"
#include "own_process.h"

namespace {

constexpr int kThreads = 64;

#define EXPECT_POISON(work) EXPECT_ENDS(work, 1, "use-after-poison")

enum class Memory { kStatic, kSmall, kDynamic };

template <class T, Memory kMemory>
__global__ void touch(int index) {
  __shared__ T tile[kThreads];
  __shared__ unsigned char small;
  extern __shared__ T dynamic[];
  volatile T* const begin = kMemory == Memory::kStatic  ? tile
                            : kMemory == Memory::kSmall ? reinterpret_cast<T*>(&small)
                                                        : dynamic;
  if (threadIdx.x == 0) begin[index] = begin[index];
}

template <class T, Memory kMemory>
void touch_at(int index) {
  launch(touch<T, kMemory>, 1, kThreads, 10 * sizeof(T), index);
}

TEST(Overrun, StaticByOne) {
  touch_at<float, Memory::kStatic>(kThreads - 1);
  EXPECT_POISON((touch_at<float, Memory::kStatic>(kThreads)));
}
TEST(Overrun, StaticBeforeTheFirst) {
  touch_at<double, Memory::kStatic>(0);
  EXPECT_POISON((touch_at<double, Memory::kStatic>(-1)));
}
TEST(Overrun, OneByte) {
  touch_at<unsigned char, Memory::kSmall>(0);
  EXPECT_POISON((touch_at<unsigned char, Memory::kSmall>(1)));
}
TEST(Overrun, DynamicByOne) {
  touch_at<float, Memory::kDynamic>(9);
  EXPECT_POISON((touch_at<float, Memory::kDynamic>(10)));
}

}  // namespace
