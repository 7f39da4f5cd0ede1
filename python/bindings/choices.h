// What Python says by a flag or a name, as the enumerations of C++.
#pragma once

#include <lapsum/lap_kernel.h>
#include <lapsum/rows.h>
#include <lapsum/soft_permute.h>

#include <stdexcept>
#include <string>

namespace lapsum::python {

inline Order order(bool descending) { return descending ? Order::descending : Order::ascending; }

inline Apply apply(bool transpose) { return transpose ? Apply::transpose : Apply::permutation; }

inline Kernel::Shape kernel_shape(const std::string& name) {
  if (name == "cdf") return Kernel::Shape::cdf;
  if (name == "even") return Kernel::Shape::even;
  if (name == "odd") return Kernel::Shape::odd;
  throw std::invalid_argument("lap_kernel: shape must be 'cdf', 'even' or 'odd', got '" + name +
                              "'");
}

}  // namespace lapsum::python
