// cub::WarpReduce: as BlockReduce, for a warp or an aligned part of one.
#pragma once

#include "cub/thread_items.h"
#include "cub/warp/warp_part.h"
#include "cuda_runtime.h"

namespace cub {

template <class T, int kThreads = 32>
class WarpReduce : executor::WarpPart<kThreads> {
  using Where = executor::Where;
  using Part = executor::WarpPart<kThreads>;

 public:
  struct TempStorage {
    executor::Raw<T> parts[kThreads];
  };

  explicit WarpReduce(TempStorage& storage) : storage_(storage) {}

  template <class Op>
  T Reduce(T input, Op op, int valid, Where where = Where::current()) {
    storage_.parts[Part::rank()].set(input);
    Part::sync({"cub::WarpReduce", where});
    if (Part::rank() != 0) return executor::undefined<T>();
    T result = storage_.parts[0].get();
    for (int i = 1; i < valid; ++i) result = op(result, storage_.parts[i].get());
    return result;
  }
  template <class Op>
  T Reduce(T input, Op op, Where where = Where::current()) {
    return Reduce(input, op, kThreads, where);
  }
  T Sum(T input, Where where = Where::current()) {
    return Reduce(input, executor::Plus{}, kThreads, where);
  }
  T Sum(T input, int valid, Where where = Where::current()) {
    return Reduce(input, executor::Plus{}, valid, where);
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
