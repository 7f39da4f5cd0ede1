// Equality to the last bit: NaN equals itself, and -0 is not +0.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>

namespace lapsum::test {

template <class T>
testing::AssertionResult same_bits(std::span<const T> got, std::span<const T> want) {
  if (got.size() != want.size()) {
    return testing::AssertionFailure() << got.size() << " elements, not " << want.size();
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) {
      return testing::AssertionFailure() << "got " << got[i] << " at " << i << ", not " << want[i];
    }
  }
  return testing::AssertionSuccess();
}

template <class Container>
testing::AssertionResult same_bits(const Container& got, const Container& want) {
  return same_bits(std::span<const typename Container::value_type>(got),
                   std::span<const typename Container::value_type>(want));
}

}  // namespace lapsum::test
