// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/ordered_keys.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/ordered_keys.cpp"
#include <hwy/foreach_target.h>
// clang-format off: this must follow foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DU = hn::ScalableTag<std::uint64_t>;
using FU = hn::Rebind<std::uint32_t, DU>;
using FI = hn::RebindToSigned<FU>;
using F = hn::RebindToFloat<FU>;
using VU = hn::Vec<FU>;

constexpr std::size_t kMaxLanes = hn::MaxLanes(DU());

HWY_INLINE VU sign_filled(VU bits) {
  return hn::BitCast(FU(), hn::ShiftRight<31>(hn::BitCast(FI(), bits)));
}

HWY_INLINE VU encode(hn::Vec<F> x, VU flip) {
  const FU d;
  const auto turned = hn::BitCast(F(), hn::Xor(hn::BitCast(d, x), flip));
  const VU bits = hn::BitCast(d, hn::Add(turned, hn::Zero(F())));  // -0 + 0 is +0
  const VU key = hn::Xor(bits, hn::Or(sign_filled(bits), hn::Set(d, 0x80000000u)));
  return hn::IfThenElse(hn::RebindMask(d, hn::Eq(x, x)), key, hn::Set(d, 0xffffffffu));
}

HWY_INLINE hn::Vec<hn::ScalableTag<double>> decode(VU key) {
  const FU d;
  const VU bits = hn::Xor(key, hn::Or(hn::Not(sign_filled(key)), hn::Set(d, 0x80000000u)));
  return hn::PromoteTo(hn::ScalableTag<double>(), hn::BitCast(F(), bits));
}

// body(from, to) for whole vectors of lanes in place, and once more through padded copies.
template <class From, class To, class Body>
HWY_INLINE void map(const From* from, std::ptrdiff_t n, To* to, Body body) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(DU()));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= n; i += lanes) body(from + i, to + i, i);
  if (i == n) return;
  HWY_ALIGN From last[kMaxLanes] = {};
  HWY_ALIGN To made[kMaxLanes];
  for (std::ptrdiff_t l = 0; l < n - i; ++l) last[l] = from[i + l];
  body(last, made, i);
  for (std::ptrdiff_t l = 0; l < n - i; ++l) to[i + l] = made[l];
}

void float_keys_all(const float* x, std::ptrdiff_t n, bool negate, std::uint32_t* keys) {
  const VU flip = hn::Set(FU(), negate ? 0x80000000u : 0u);
  map(x, n, keys, [&](const float* from, std::uint32_t* to, std::ptrdiff_t) HWY_ATTR {
    hn::StoreU(encode(hn::LoadU(F(), from), flip), FU(), to);
  });
}

void float_pairs_all(const float* x, std::ptrdiff_t n, bool negate, std::uint32_t first,
                     std::uint64_t* pairs) {
  const DU d;
  const VU flip = hn::Set(FU(), negate ? 0x80000000u : 0u);
  map(x, n, pairs, [&](const float* from, std::uint64_t* to, std::ptrdiff_t i) HWY_ATTR {
    const auto key = hn::PromoteTo(d, encode(hn::LoadU(F(), from), flip));
    const auto index = hn::Iota(d, first + static_cast<std::uint64_t>(i));
    hn::StoreU(hn::Or(hn::ShiftLeft<32>(key), index), d, to);
  });
}

void keys_to_values_all(const std::uint32_t* keys, std::ptrdiff_t n, double* values) {
  map(keys, n, values, [](const std::uint32_t* from, double* to, std::ptrdiff_t) HWY_ATTR {
    hn::StoreU(decode(hn::LoadU(FU(), from)), hn::ScalableTag<double>(), to);
  });
}

void pairs_to_values_all(const std::uint64_t* pairs, std::ptrdiff_t n, double* values,
                         std::uint32_t* indices) {
  const DU d;
  map(pairs, n, values, [](const std::uint64_t* from, double* to, std::ptrdiff_t) HWY_ATTR {
    const auto key = hn::TruncateTo(FU(), hn::ShiftRight<32>(hn::LoadU(DU(), from)));
    hn::StoreU(decode(key), hn::ScalableTag<double>(), to);
  });
  map(pairs, n, indices,
      [&](const std::uint64_t* from, std::uint32_t* to, std::ptrdiff_t)
          HWY_ATTR { hn::StoreU(hn::TruncateTo(FU(), hn::LoadU(d, from)), FU(), to); });
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(float_keys_all);
HWY_EXPORT(float_pairs_all);
HWY_EXPORT(keys_to_values_all);
HWY_EXPORT(pairs_to_values_all);

void float_keys(const float* x, std::ptrdiff_t n, bool negate, std::uint32_t* keys) {
  HWY_DYNAMIC_DISPATCH(float_keys_all)(x, n, negate, keys);
}

void float_pairs(const float* x, std::ptrdiff_t n, bool negate, std::uint32_t first,
                 std::uint64_t* pairs) {
  HWY_DYNAMIC_DISPATCH(float_pairs_all)(x, n, negate, first, pairs);
}

void keys_to_values(const std::uint32_t* keys, std::ptrdiff_t n, double* values) {
  HWY_DYNAMIC_DISPATCH(keys_to_values_all)(keys, n, values);
}

void pairs_to_values(const std::uint64_t* pairs, std::ptrdiff_t n, double* values,
                     std::uint32_t* indices) {
  HWY_DYNAMIC_DISPATCH(pairs_to_values_all)(pairs, n, values, indices);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
