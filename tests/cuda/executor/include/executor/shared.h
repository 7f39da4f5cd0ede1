// Shared memory. The build turns `__shared__ T name[n];` into EXECUTOR_SHARED(name, [n], T) and
// `extern __shared__ T name[];` into EXECUTOR_DYNAMIC_SHARED(name, T): see translate.sed. A block
// gets its memory full of 0xff bytes (NaN), each variable between zones that must not be touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace executor {

/// The place of one __shared__ variable: the same for all threads of a block.
class Slot {
 public:
  template <class T>
  T& as() {
    return *static_cast<T*>(of_this_block(sizeof(T)));
  }

 private:
  void* of_this_block(std::size_t bytes);

  std::uint64_t block_ = 0;
  void* at_ = nullptr;
};

void* dynamic_shared_memory();

}  // namespace executor

#define EXECUTOR_SHARED(name, dimensions, ...)   \
  static constinit ::executor::Slot name##_slot; \
  auto& name = name##_slot.as<__VA_ARGS__ dimensions>()

#define EXECUTOR_DYNAMIC_SHARED(name, ...) \
  auto& name = *static_cast<__VA_ARGS__(*)[]>(::executor::dynamic_shared_memory())
