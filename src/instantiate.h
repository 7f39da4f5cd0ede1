// Templates are declared in headers and compiled once, for float and double.
#pragma once

#define LAPSUM_INSTANTIATE(function)                  \
  template decltype(function<float>) function<float>; \
  template decltype(function<double>) function<double>;
