// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/anchored.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/anchored.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/decay-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// 2^t and 2^-t have the same even and odd parts.
HWY_INLINE void rise_and_fall_at(D d, V t, double* rise, double* fall) {
  const hn::RebindToSigned<D> di;
  constexpr const double (&q)[11] = kExp2<double>;
  constexpr double kRound = 0x1.8p52;  // leaves the nearest integer in the low bits
  const V moved = hn::Add(t, hn::Set(d, kRound));
  const V f = hn::Sub(t, hn::Sub(moved, hn::Set(d, kRound)));
  const V y = hn::Mul(f, f);
  V odd = hn::Set(d, q[10]);
  V even = hn::Set(d, q[9]);
  for (int i = 8; i > 0; i -= 2) {
    odd = hn::MulAdd(odd, y, hn::Set(d, q[i]));
    even = hn::MulAdd(even, y, hn::Set(d, q[i - 1]));
  }
  odd = hn::MulAdd(odd, y, hn::Set(d, q[0]));
  even = hn::MulAdd(even, y, hn::Set(d, 1.0));
  const auto exponent = hn::ShiftLeft<52>(hn::BitCast(di, moved));
  const auto up = hn::BitCast(di, hn::MulAdd(f, odd, even));
  const auto down = hn::BitCast(di, hn::NegMulAdd(f, odd, even));
  hn::StoreU(hn::BitCast(d, hn::Add(up, exponent)), d, rise);
  hn::StoreU(hn::BitCast(d, hn::Sub(down, exponent)), d, fall);
}

void rise_and_fall_all(const double* r, std::ptrdiff_t n, double middle, double alpha, double* rise,
                       double* fall) {
  const D d;
  const V from = hn::Set(d, middle);
  const V rate = hn::Set(d, std::min(kLog2e / alpha, std::numeric_limits<double>::max()));
  const auto octaves = [&](const double* at)
                           HWY_ATTR { return hn::Mul(hn::Sub(hn::LoadU(d, at), from), rate); };
  for_each_vector(
      r, n, middle,
      [&](const double* at, std::ptrdiff_t i)
          HWY_ATTR { rise_and_fall_at(d, octaves(at), rise + i, fall + i); },
      [&](const double* at, std::ptrdiff_t i, std::ptrdiff_t left) HWY_ATTR {
        double last[2][kMaxLanes];
        rise_and_fall_at(d, octaves(at), last[0], last[1]);
        std::copy_n(last[0], left, rise + i);
        std::copy_n(last[1], left, fall + i);
      });
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(rise_and_fall_all);

void rise_and_fall(const double* r, std::ptrdiff_t n, double middle, double alpha, double* rise,
                   double* fall) {
  HWY_DYNAMIC_DISPATCH(rise_and_fall_all)(r, n, middle, alpha, rise, fall);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
