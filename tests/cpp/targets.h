// Every instruction set the machine has, and the lengths at which vector code goes wrong.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstddef>

namespace lapsum::test {

/// 0, 1, 2, one less and one more than 2 to 64 lanes, odd and prime sizes, a thousand, a prime beyond
/// the rows that are taken side by side, and one beyond several chunks.
inline constexpr std::ptrdiff_t kLengths[] = {
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 255, 1000, 1031, 100003};

/// The lengths for which a test can afford a definition of n^2 terms.
inline constexpr std::ptrdiff_t kShortLengths[] = {0,  1,  2,  3,  4,  5,  7,  8,  9,
                                                   15, 16, 17, 31, 32, 33, 97, 255};

/// body() once for every instruction set, with no other to choose from.
template <class Body>
void for_each_target(Body&& body) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace lapsum::test
