// Lines of memory that are asked for before they are needed.
#pragma once

namespace lapsum::cpu {

/// Asks for the line at `at`, which will be written. For x86 the instruction is named: without a flag for
/// it compilers ask for the line as if to read it, and if another core has it, it is waited for again.
inline void expect_write(const void* at) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

}  // namespace lapsum::cpu
