#include "cpu/primitives/parallel.h"

#include <atomic>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace lapsum::cpu {
namespace {

std::atomic<bool> threads_lost = false;

#if defined(__unix__) || defined(__APPLE__)
[[maybe_unused]] const int kForkIsWatched =
    pthread_atfork(nullptr, nullptr, [] { threads_lost = true; });
#endif

}  // namespace

int usable_threads(int threads) {
#ifdef _OPENMP
  if (threads_lost) return 1;
  static const int most_here = std::max(4 * omp_get_num_procs(), 16);  // it takes a microsecond
  const int usual = omp_get_max_threads();
  return threads > 0 ? std::min(threads, std::max(usual, most_here)) : usual;
#else
  (void)threads;
  return 1;
#endif
}

}  // namespace lapsum::cpu
