// cub::BlockScan: every thread leaves the total of its items in TempStorage, thread 0 scans the
// totals, and every thread goes on from the total before its own.
#pragma once

#include "cub/thread_items.h"
#include "cuda_runtime.h"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int kX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int kY = 1, int kZ = 1>
class BlockScan {
  using Where = executor::Where;

 public:
  static constexpr int kThreads = kX * kY * kZ;
  struct TempStorage {
    executor::Raw<T> totals[kThreads];
    executor::Raw<T> prefix;
  };

  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  template <int kItems, class Op>
  void InclusiveScan(const T (&input)[kItems], T (&output)[kItems], Op op, T& aggregate,
                     Where where = Where::current()) {
    const Before before = scan_totals(executor::reduce_items(input, op), op, where);
    inclusive(input, output, op, before);
    aggregate = before.aggregate;
  }
  template <int kItems, class Op>
  void InclusiveScan(const T (&input)[kItems], T (&output)[kItems], Op op,
                     Where where = Where::current()) {
    T aggregate;
    InclusiveScan(input, output, op, aggregate, where);
  }
  template <int kItems, class Op>
  void ExclusiveScan(const T (&input)[kItems], T (&output)[kItems], T initial, Op op, T& aggregate,
                     Where where = Where::current()) {
    const Before before = scan_totals(executor::reduce_items(input, op), op, where);
    T running = before.any ? op(initial, before.value) : initial;
    exclusive(input, output, op, running);
    aggregate = before.aggregate;
  }
  template <int kItems, class Op>
  void ExclusiveScan(const T (&input)[kItems], T (&output)[kItems], T initial, Op op,
                     Where where = Where::current()) {
    T aggregate;
    ExclusiveScan(input, output, initial, op, aggregate, where);
  }
  /// The callback gets the total of the block, in every lane of the first warp; what it returns in
  /// lane 0 comes before everything.
  template <int kItems, class Op, class Callback>
    requires requires(Callback& callback, T total) { callback(total); }
  void ExclusiveScan(const T (&input)[kItems], T (&output)[kItems], Op op, Callback& callback,
                     Where where = Where::current()) {
    const Before before = scan_totals(executor::reduce_items(input, op), op, where);
    const T prefix = called_back(callback, before.aggregate, where);
    exclusive(input, output, op, before.any ? op(prefix, before.value) : prefix);
  }
  template <int kItems, class Op, class Callback>
    requires requires(Callback& callback, T total) { callback(total); }
  void InclusiveScan(const T (&input)[kItems], T (&output)[kItems], Op op, Callback& callback,
                     Where where = Where::current()) {
    Before before = scan_totals(executor::reduce_items(input, op), op, where);
    const T prefix = called_back(callback, before.aggregate, where);
    before.value = before.any ? op(prefix, before.value) : prefix;
    before.any = true;
    inclusive(input, output, op, before);
  }

  // One item per thread.
  template <class Op, class... Rest>
  void InclusiveScan(T input, T& output, Op op, Rest&&... rest) {
    const T in[1] = {input};
    T out[1];
    InclusiveScan(in, out, op, std::forward<Rest>(rest)...);
    output = out[0];
  }
  template <class Second, class Third, class... Rest>
  void ExclusiveScan(T input, T& output, Second second, Third&& third, Rest&&... rest) {
    const T in[1] = {input};
    T out[1];
    ExclusiveScan(in, out, second, std::forward<Third>(third), std::forward<Rest>(rest)...);
    output = out[0];
  }

  // Sums.
  template <class In, class Out, class... Rest>
  void InclusiveSum(In&& input, Out&& output, Rest&&... rest) {
    InclusiveScan(std::forward<In>(input), std::forward<Out>(output), executor::Plus{},
                  std::forward<Rest>(rest)...);
  }
  template <class In, class Out>
  void ExclusiveSum(In&& input, Out&& output, Where where = Where::current()) {
    ExclusiveScan(std::forward<In>(input), std::forward<Out>(output), T{}, executor::Plus{}, where);
  }
  template <class In, class Out>
  void ExclusiveSum(In&& input, Out&& output, T& aggregate, Where where = Where::current()) {
    ExclusiveScan(std::forward<In>(input), std::forward<Out>(output), T{}, executor::Plus{},
                  aggregate, where);
  }
  template <class In, class Out, class Callback>
    requires requires(Callback& callback, T total) { callback(total); }
  void ExclusiveSum(In&& input, Out&& output, Callback& callback, Where where = Where::current()) {
    ExclusiveScan(std::forward<In>(input), std::forward<Out>(output), executor::Plus{}, callback,
                  where);
  }

 private:
  struct Before {
    bool any;  // not so for thread 0
    T value, aggregate;
  };

  template <class Op>
  Before scan_totals(T total, Op op, Where where) {
    const executor::Site site{"cub::BlockScan", where};
    executor::check_block(kThreads, site);
    const unsigned rank = executor::thread_rank();
    storage_.totals[rank].set(total);
    executor::block_barrier(false, site);
    if (rank == 0) {
      T running = total;
      for (int i = 1; i < kThreads; ++i) {
        running = op(running, storage_.totals[i].get());
        storage_.totals[i].set(running);
      }
    }
    executor::block_barrier(false, site);
    return {rank != 0, storage_.totals[rank == 0 ? 0 : rank - 1].get(),
            storage_.totals[kThreads - 1].get()};
  }

  template <class Callback>
  T called_back(Callback& callback, T total, Where where) {
    const unsigned rank = executor::thread_rank();
    if (rank < 32) {
      const T prefix = callback(total);
      if (rank == 0) storage_.prefix.set(prefix);
    }
    executor::block_barrier(false, {"cub::BlockScan", where});
    return storage_.prefix.get();
  }

  template <int kItems, class Op>
  static void inclusive(const T (&input)[kItems], T (&output)[kItems], Op op,
                        const Before& before) {
    T running = before.any ? op(before.value, input[0]) : input[0];
    output[0] = running;
    for (int i = 1; i < kItems; ++i) output[i] = running = op(running, input[i]);
  }
  template <int kItems, class Op>
  static void exclusive(const T (&input)[kItems], T (&output)[kItems], Op op, T running) {
    for (int i = 0; i < kItems; ++i) {
      const T item = input[i];  // output may be input
      output[i] = running;
      running = op(running, item);
    }
  }

  TempStorage& storage_;
};

}  // namespace cub
