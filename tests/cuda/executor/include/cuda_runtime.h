// The stand-in for the header of this name: kernels compile as C++ and run on the CPU.
#pragma once

#include "executor/atomics.h"
#include "executor/block.h"
#include "executor/host.h"
#include "executor/language.h"
#include "executor/math.h"
#include "executor/shared.h"
#include "executor/warp.h"
