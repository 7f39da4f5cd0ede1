// Element types of 16 bits. They are storage: rows of them are computed in wider types, and results
// rounded to them.
#pragma once

#include <cstdint>

namespace lapsum {

/// The bits of an IEEE binary16 number, as __half, _Float16 and torch.float16 hold them.
struct Half {
  std::uint16_t bits;
};

/// The bits of a bfloat16 number: the upper half of a float's.
struct Bfloat16 {
  std::uint16_t bits;
};

}  // namespace lapsum
