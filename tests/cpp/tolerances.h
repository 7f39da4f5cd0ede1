// The table of promised accuracy, tests/tolerances.csv. Lines of one quantity add up; `scale` is a
// product of named factors, whose values the caller gives.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

namespace lapsum::test {

/// What the factors of a scale are worth: "n", "1/alpha", "sum|w|", ...; "1" is known.
using Factors = std::map<std::string, long double>;

/// The error that the table allows; throws if it has no line, or a factor no value.
long double allowed(const std::string& operation, const std::string& dtype,
                    const std::string& quantity, const Factors& factors = {});

template <class T>
inline constexpr const char* kDtype = sizeof(T) == sizeof(float) ? "float32" : "float64";

/// The distance of doubles around y.
inline long double ulp(long double y) {
  const double magnitude = std::abs(static_cast<double>(y));
  return std::nextafter(magnitude, std::numeric_limits<double>::infinity()) - magnitude;
}

/// got is want, or within `limit` of it; both may be NaN.
testing::AssertionResult within(long double got, long double want, long double limit);

}  // namespace lapsum::test
