// The shapes of lap_kernel by their names in Python.
#pragma once

#include <lapsum/lap_kernel.h>

#include <stdexcept>
#include <string>

namespace lapsum::python {

inline Kernel::Shape kernel_shape(const std::string& name) {
  if (name == "cdf") return Kernel::Shape::cdf;
  if (name == "even") return Kernel::Shape::even;
  if (name == "odd") return Kernel::Shape::odd;
  throw std::invalid_argument("lap_kernel: shape must be 'cdf', 'even' or 'odd', got '" + name +
                              "'");
}

}  // namespace lapsum::python
