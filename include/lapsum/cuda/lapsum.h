// All of LapSum on a GPU: the functions of lapsum/lapsum.h on device memory, queued on a stream.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/cuda/log_soft_topk.h"
#include "lapsum/cuda/soft_topk.h"
