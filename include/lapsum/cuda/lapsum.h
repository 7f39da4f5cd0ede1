// All of LapSum on a GPU: the functions of lapsum/lapsum.h on device memory, queued on a stream.
#pragma once

#include "lapsum/cuda/lap_kernel.h"
#include "lapsum/cuda/lap_sum.h"
#include "lapsum/cuda/lap_sum_inverse.h"
#include "lapsum/cuda/launch.h"
#include "lapsum/cuda/log_soft_topk.h"
#include "lapsum/cuda/soft_kth_value.h"
#include "lapsum/cuda/soft_permutation.h"
#include "lapsum/cuda/soft_permute.h"
#include "lapsum/cuda/soft_quantile.h"
#include "lapsum/cuda/soft_rank.h"
#include "lapsum/cuda/soft_sort.h"
#include "lapsum/cuda/soft_topk.h"
