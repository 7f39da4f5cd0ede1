// Templates are declared in headers and compiled once, for the four element types of a GPU.
#pragma once

#include "lapsum/cuda/launch.h"

#define LAPSUM_INSTANTIATE_CUDA(function)                                           \
  template decltype(function<float>) function<float>;                               \
  template decltype(function<double>) function<double>;                             \
  template decltype(function<::lapsum::cuda::Half>) function<::lapsum::cuda::Half>; \
  template decltype(function<::lapsum::cuda::Bfloat16>) function<::lapsum::cuda::Bfloat16>;
