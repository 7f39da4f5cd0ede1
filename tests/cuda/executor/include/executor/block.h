// What a block of threads does together: barriers, fences, and the end of a thread.
#pragma once

#include "executor/site.h"

namespace executor {

/// Waits for all threads of the block that have not exited; how many of them came with a predicate.
struct Count {
  int with_predicate, arrived;
};
Count block_barrier(bool predicate, const Site& site);

/// Everything this thread did before is visible to those who come here later.
void fence();

/// Stops the kernel; the launch throws executor::Fault with this message and where all threads are.
[[noreturn]] void fail(const char* message, const Site& site);

}  // namespace executor

inline void __syncthreads(executor::Where where = executor::Where::current()) {
  executor::block_barrier(false, {"__syncthreads", where});
}
inline int __syncthreads_count(int predicate, executor::Where where = executor::Where::current()) {
  return executor::block_barrier(predicate != 0, {"__syncthreads_count", where}).with_predicate;
}
inline int __syncthreads_or(int predicate, executor::Where where = executor::Where::current()) {
  return executor::block_barrier(predicate != 0, {"__syncthreads_or", where}).with_predicate != 0;
}
inline int __syncthreads_and(int predicate, executor::Where where = executor::Where::current()) {
  const executor::Count count =
      executor::block_barrier(predicate != 0, {"__syncthreads_and", where});
  return count.with_predicate == count.arrived;
}

inline void __threadfence() { executor::fence(); }
inline void __threadfence_block() { executor::fence(); }
inline void __threadfence_system() { executor::fence(); }

[[noreturn]] inline void __trap(executor::Where where = executor::Where::current()) {
  executor::fail("the kernel trapped", {"__trap", where});
}
