// All of LapSum. Soft rank, sort, top-k and permutation from sums of Laplace CDFs, with
// derivatives. Every function is instantiated for float and double, soft_topk and log_soft_topk for
// Half and Bfloat16 too; computation is in double.
#pragma once

#include "lapsum/half.h"
#include "lapsum/lap_kernel.h"
#include "lapsum/lap_sum.h"
#include "lapsum/lap_sum_inverse.h"
#include "lapsum/log_soft_topk.h"
#include "lapsum/rows.h"
#include "lapsum/simd_target.h"
#include "lapsum/soft_kth_value.h"
#include "lapsum/soft_permutation.h"
#include "lapsum/soft_permute.h"
#include "lapsum/soft_quantile.h"
#include "lapsum/soft_rank.h"
#include "lapsum/soft_sort.h"
#include "lapsum/soft_topk.h"
