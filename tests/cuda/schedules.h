// Every order in which the executor may run the threads of a kernel; on a GPU, whatever it does, twice.
#pragma once

#if __has_include("executor/schedule.h")
#include "executor/schedule.h"

namespace lapsum::test {

using executor::under_every_schedule;

}  // namespace lapsum::test
#else

namespace lapsum::test {

template <class Work>
void under_every_schedule(Work&& work) {
  for (int i = 0; i < 2; ++i) work();
}

}  // namespace lapsum::test
#endif
