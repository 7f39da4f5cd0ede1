// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/anchored.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/anchored.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

HWY_INLINE void rise_and_fall_at(D d, double* rise, double* fall) {
  const V e = hn::Exp(d, hn::LoadU(d, rise));
  hn::StoreU(e, d, rise);
  hn::StoreU(hn::Div(hn::Set(d, 1.0), e), d, fall);
}

void rise_and_fall_all(double* rise, std::ptrdiff_t n, double* fall) {
  const D d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) rise_and_fall_at(d, rise + i, fall + i);
  if (i == n) return;
  HWY_ALIGN double last[2][hn::MaxLanes(D())] = {};
  for (std::ptrdiff_t l = 0; l < n - i; ++l) last[0][l] = rise[i + l];
  rise_and_fall_at(d, last[0], last[1]);
  for (std::ptrdiff_t l = 0; l < n - i; ++l) {
    rise[i + l] = last[0][l];
    fall[i + l] = last[1][l];
  }
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(rise_and_fall_all);

void rise_and_fall(double* rise, std::ptrdiff_t n, double* fall) {
  HWY_DYNAMIC_DISPATCH(rise_and_fall_all)(rise, n, fall);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
