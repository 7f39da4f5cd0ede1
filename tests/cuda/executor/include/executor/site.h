// Where a thread stands: the operation it waits in and the line of the kernel that called it. The
// calls of the executor take one as their last argument, by default the place of the call itself.
#pragma once

#include <source_location>

namespace executor {

using Where = std::source_location;

struct Site {
  const char* operation;
  Where where;
};

}  // namespace executor
