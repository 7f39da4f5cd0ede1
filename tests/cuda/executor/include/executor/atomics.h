// Integer atomics. Float atomics are deleted: their sums depend on the order of the threads.
#pragma once

namespace executor {

template <class T>
T read_modify_write(T* address, auto&& change) {
  T old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, static_cast<T>(change(old)), true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}

}  // namespace executor

#define EXECUTOR_ATOMIC(T, name, result)                                                     \
  inline T name(T* address, T value) {                                                       \
    return executor::read_modify_write(address,                                              \
                                       [&]([[maybe_unused]] T old) -> T { return result; }); \
  }
#define EXECUTOR_ATOMICS(T)                                                                  \
  EXECUTOR_ATOMIC(T, atomicAdd, old + value)                                                 \
  EXECUTOR_ATOMIC(T, atomicExch, value)                                                      \
  EXECUTOR_ATOMIC(T, atomicMin, value < old ? value : old)                                   \
  EXECUTOR_ATOMIC(T, atomicMax, value > old ? value : old)                                   \
  EXECUTOR_ATOMIC(T, atomicAnd, old& value)                                                  \
  EXECUTOR_ATOMIC(T, atomicOr, old | value)                                                  \
  EXECUTOR_ATOMIC(T, atomicXor, old ^ value)                                                 \
  inline T atomicCAS(T* address, T compare, T value) {                                       \
    return executor::read_modify_write(address,                                              \
                                       [&](T old) { return old == compare ? value : old; }); \
  }

EXECUTOR_ATOMICS(int)
EXECUTOR_ATOMICS(unsigned)
EXECUTOR_ATOMICS(unsigned long long)
EXECUTOR_ATOMIC(int, atomicSub, old - value)
EXECUTOR_ATOMIC(unsigned, atomicSub, old - value)
EXECUTOR_ATOMIC(unsigned, atomicInc, old >= value ? 0 : old + 1)
#undef EXECUTOR_ATOMICS
#undef EXECUTOR_ATOMIC

float atomicAdd(float*, float) = delete;
double atomicAdd(double*, double) = delete;
