// A warp or an aligned part of one, in which CUB's warp primitives work.
#pragma once

#include "cuda_runtime.h"

namespace executor {

template <int kThreads>
struct WarpPart {
  static_assert(kThreads >= 1 && kThreads <= 32);

  static int rank() { return lane() % kThreads; }
  static void sync(const Site& site) {
    const unsigned all = kThreads == 32 ? ~0u : (1u << kThreads % 32) - 1;
    warp_exchange(Exchange::kSync, all << lane() / kThreads * kThreads, 0, 0, site);
  }
};

}  // namespace executor
