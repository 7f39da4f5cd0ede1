// Where an operation runs on a GPU, and the element types by their names there.
// No CUDA header is needed to call the library.
#pragma once

#include <cstddef>

#include "lapsum/half.h"

struct CUstream_st;

namespace lapsum::cuda {

/// The stream that a call is queued on (a cudaStream_t; null is the default stream), and device
/// memory it may use until it is done: as many bytes as the operation's `_workspace` function says
/// on the same device, aligned to 256, as cudaMalloc gives them.
/// Calls allocate nothing, never wait for the device, and may be captured into a CUDA graph:
/// whatever they are given must stay where it is until the stream has passed them.
struct Launch {
  CUstream_st* stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

using lapsum::Bfloat16;
using lapsum::Half;

}  // namespace lapsum::cuda
