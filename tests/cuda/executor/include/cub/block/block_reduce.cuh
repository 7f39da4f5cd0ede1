// cub::BlockReduce: every thread leaves its part in TempStorage, thread 0 puts them together in the
// order of the threads. Other threads get bytes of 0xff, as their result is undefined.
#pragma once

#include <cstring>

#include "cub/thread_items.h"
#include "cuda_runtime.h"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};

template <class T, int kX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int kY = 1,
          int kZ = 1>
class BlockReduce {
 public:
  static constexpr int kThreads = kX * kY * kZ;
  struct TempStorage {
    executor::Raw<T> parts[kThreads];
  };

  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <class Op>
  T Reduce(T input, Op op, int valid, executor::Where where = executor::Where::current()) {
    executor::check_block(kThreads, {"cub::BlockReduce", where});
    const unsigned rank = executor::thread_rank();
    storage_.parts[rank].set(input);
    executor::block_barrier(false, {"cub::BlockReduce", where});
    if (rank != 0) return executor::undefined<T>();
    T result = storage_.parts[0].get();
    for (int i = 1; i < valid; ++i) result = op(result, storage_.parts[i].get());
    return result;
  }
  template <class Op>
  T Reduce(T input, Op op, executor::Where where = executor::Where::current()) {
    return Reduce(input, op, kThreads, where);
  }
  template <int kItems, class Op>
  T Reduce(T (&input)[kItems], Op op, executor::Where where = executor::Where::current()) {
    return Reduce(executor::reduce_items(input, op), op, kThreads, where);
  }
  T Sum(T input, executor::Where where = executor::Where::current()) {
    return Reduce(input, executor::Plus{}, kThreads, where);
  }
  T Sum(T input, int valid, executor::Where where = executor::Where::current()) {
    return Reduce(input, executor::Plus{}, valid, where);
  }
  template <int kItems>
  T Sum(T (&input)[kItems], executor::Where where = executor::Where::current()) {
    return Reduce(input, executor::Plus{}, where);
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
