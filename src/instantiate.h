// Templates are declared in headers and compiled once, for float and double, or for all four
// element types.
#pragma once

#include "lapsum/half.h"

#define LAPSUM_INSTANTIATE(function)                  \
  template decltype(function<float>) function<float>; \
  template decltype(function<double>) function<double>;

#define LAPSUM_INSTANTIATE_FOUR(function)                               \
  LAPSUM_INSTANTIATE(function)                                          \
  template decltype(function<::lapsum::Half>) function<::lapsum::Half>; \
  template decltype(function<::lapsum::Bfloat16>) function<::lapsum::Bfloat16>;
