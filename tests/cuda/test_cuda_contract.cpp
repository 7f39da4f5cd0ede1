// What every operation promises alike, word for word that of the CPU: the same tests, of the
// functions on the device. None of them has a kernel of its own, so races are not sought here.
#ifndef __SANITIZE_THREAD__
#include "batch.h"
#include "cuda_operations.h"

#define operations cuda_operations
#include "../cpp/test_contract.cpp"
#endif
