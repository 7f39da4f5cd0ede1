// The switch from one stack to another: registers that a call must keep are pushed, the stack
// pointer is exchanged. Other machines go through ucontext, which costs system calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace executor {

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" void executor_switch_stack(void** from, void* to);

inline void switch_stack(void** from, void* to) { executor_switch_stack(from, to); }

/// A stack that begins with entry(), which must not return.
inline void* new_stack(char* bottom, std::size_t bytes, void (*entry)(), void* /*old*/) {
  auto* top = reinterpret_cast<std::uintptr_t*>(bottom + bytes);
#if defined(__x86_64__)
  constexpr int kSaved = 8;  // six registers, the return address, an end for backtraces
  top -= kSaved;
  for (int i = 0; i < kSaved; ++i) top[i] = 0;
  top[6] = reinterpret_cast<std::uintptr_t>(entry);
#else
  constexpr int kSaved = 20;  // x19 to x30, d8 to d15
  top -= kSaved;
  for (int i = 0; i < kSaved; ++i) top[i] = 0;
  top[11] = reinterpret_cast<std::uintptr_t>(entry);
#endif
  return top;
}

inline void delete_stack(void* /*context*/) {}

#else

}  // namespace executor
#include <ucontext.h>
namespace executor {

inline void switch_stack(void** from, void* to) {
  if (!*from) *from = new ucontext_t;
  swapcontext(static_cast<ucontext_t*>(*from), static_cast<ucontext_t*>(to));
}

inline void* new_stack(char* bottom, std::size_t bytes, void (*entry)(), void* old) {
  auto* context = old ? static_cast<ucontext_t*>(old) : new ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = bottom;
  context->uc_stack.ss_size = bytes;
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
  return context;
}

inline void delete_stack(void* context) { delete static_cast<ucontext_t*>(context); }

#endif

}  // namespace executor
