// cub::WarpScan: as BlockScan with one item per thread, for a warp or an aligned part of one.
#pragma once

#include "cub/thread_items.h"
#include "cub/warp/warp_part.h"
#include "cuda_runtime.h"

namespace cub {

template <class T, int kThreads = 32>
class WarpScan : executor::WarpPart<kThreads> {
  using Where = executor::Where;
  using Part = executor::WarpPart<kThreads>;

 public:
  struct TempStorage {
    executor::Raw<T> parts[kThreads];
  };

  explicit WarpScan(TempStorage& storage) : storage_(storage) {}

  template <class Op>
  void InclusiveScan(T input, T& output, Op op, T& aggregate, Where where = Where::current()) {
    gather(input, where);
    output = upto(Part::rank(), op);
    aggregate = upto(kThreads - 1, op);
  }
  template <class Op>
  void InclusiveScan(T input, T& output, Op op, Where where = Where::current()) {
    T aggregate;
    InclusiveScan(input, output, op, aggregate, where);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, T initial, Op op, T& aggregate,
                     Where where = Where::current()) {
    gather(input, where);
    output = Part::rank() == 0 ? initial : op(initial, upto(Part::rank() - 1, op));
    aggregate = upto(kThreads - 1, op);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, T initial, Op op, Where where = Where::current()) {
    T aggregate;
    ExclusiveScan(input, output, initial, op, aggregate, where);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, Op op, Where where = Where::current()) {
    gather(input, where);
    output = Part::rank() == 0 ? executor::undefined<T>() : upto(Part::rank() - 1, op);
  }
  void InclusiveSum(T input, T& output, Where where = Where::current()) {
    InclusiveScan(input, output, executor::Plus{}, where);
  }
  void InclusiveSum(T input, T& output, T& aggregate, Where where = Where::current()) {
    InclusiveScan(input, output, executor::Plus{}, aggregate, where);
  }
  void ExclusiveSum(T input, T& output, Where where = Where::current()) {
    ExclusiveScan(input, output, T{}, executor::Plus{}, where);
  }
  void ExclusiveSum(T input, T& output, T& aggregate, Where where = Where::current()) {
    ExclusiveScan(input, output, T{}, executor::Plus{}, aggregate, where);
  }
  T Broadcast(T input, unsigned source, Where where = Where::current()) {
    gather(input, where);
    return storage_.parts[source].get();
  }

 private:
  void gather(const T& input, Where where) {
    storage_.parts[Part::rank()].set(input);
    Part::sync({"cub::WarpScan", where});
  }
  template <class Op>
  T upto(int last, Op op) const {
    T result = storage_.parts[0].get();
    for (int i = 1; i <= last; ++i) result = op(result, storage_.parts[i].get());
    return result;
  }

  TempStorage& storage_;
};

}  // namespace cub
