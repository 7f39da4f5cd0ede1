// Compiled once per instruction set; the one that is dispatched to gives its name.
#include "lapsum/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd_target.cpp"
#include <hwy/foreach_target.h>
// clang-format off: this must follow foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum {
namespace cpu {
HWY_EXPORT(target_name);

const char* dispatched_name() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace cpu

const char* simd_target() { return cpu::dispatched_name(); }

}  // namespace lapsum
#endif  // HWY_ONCE
