// What the sanitizers are told: about stacks being switched, memory that must not be touched, and
// which thread's work happened before whose. Without a sanitizer all of it is nothing.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || defined(EXECUTOR_RACES)
#include <sanitizer/tsan_interface.h>
#endif

namespace executor {

#if defined(__SANITIZE_ADDRESS__)
inline void forbid(const void* at, std::size_t bytes) { __asan_poison_memory_region(at, bytes); }
inline void permit(const void* at, std::size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
inline void leave_stack(void** fake, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake, bottom, bytes);
}
inline void enter_stack(void* fake, const void** old_bottom, std::size_t* old_bytes) {
  __sanitizer_finish_switch_fiber(fake, old_bottom, old_bytes);
}
#else
inline void forbid(const void*, std::size_t) {}
inline void permit(const void*, std::size_t) {}
inline void leave_stack(void**, const void*, std::size_t) {}
inline void enter_stack(void*, const void**, std::size_t*) {}
#endif

// EXECUTOR_RACES: the kernels are watched by ThreadSanitizer, the executor itself is not.
#if defined(EXECUTOR_RACES)
inline constexpr bool kWatchesRaces = true;
inline void* this_race_fiber() { return __tsan_get_current_fiber(); }
inline void* new_race_fiber() { return __tsan_create_fiber(0); }
inline void delete_race_fiber(void* fiber) { __tsan_destroy_fiber(fiber); }
inline void switch_race_fiber(void* fiber) {
  __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
}
inline void happens_before(void* token) { __tsan_release(token); }
inline void happens_after(void* token) { __tsan_acquire(token); }
#else
inline constexpr bool kWatchesRaces = false;
inline void* this_race_fiber() { return nullptr; }
inline void* new_race_fiber() { return nullptr; }
inline void delete_race_fiber(void*) {}
inline void switch_race_fiber(void*) {}
inline void happens_before(void*) {}
inline void happens_after(void*) {}
#endif

}  // namespace executor
