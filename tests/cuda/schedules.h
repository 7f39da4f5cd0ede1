// Every order in which the executor may run the threads of a kernel; on a GPU, whatever it does,
// twice. And what is not worth its time in some variants of the tests.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

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

namespace lapsum::test {

// Races do not depend on what rows hold, and a run that looks for them takes ten times as long: it
// launches every kernel, but not often.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kSeeksRaces = true;
#define SKIP_WHERE_RACES_ARE_SOUGHT() GTEST_SKIP() << "another test looks for the same races"
#else
inline constexpr bool kSeeksRaces = false;
#define SKIP_WHERE_RACES_ARE_SOUGHT()
#endif

// Neither does memory depend on the number of rows.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SKIP_UNDER_SANITIZERS() GTEST_SKIP() << "more of the same"
#else
#define SKIP_UNDER_SANITIZERS()
#endif

/// The cases of a test; the last few of them where races are sought.
template <class Case>
std::vector<Case> cases(const std::vector<Case>& all, std::ptrdiff_t few = 1) {
  return kSeeksRaces ? std::vector<Case>(all.end() - few, all.end()) : all;
}
template <class Case>
std::vector<Case> cases(std::initializer_list<Case> all) {
  return cases(std::vector<Case>(all));
}

}  // namespace lapsum::test
