// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/intervals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/intervals.cpp"
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
using DI = hn::RebindToSigned<D>;
using VI = hn::Vec<DI>;

// One vector of intervals. A side without values has sum 0, and the other side is nearest then.
struct Solved {
  V near_value, near_sum, far_sum;
  hn::Mask<D> to_right;
  V product, sum, m;
};

HWY_INLINE Solved solve(D d, const SummedRow& row, V k, VI lefts) {
  const DI di;
  const VI one = hn::Set(di, 1);
  const VI size = hn::Set(di, row.n);
  const VI left_at = hn::Max(hn::Sub(lefts, one), hn::Zero(di));
  const VI right_at = hn::Min(lefts, hn::Sub(size, one));
  const auto has_left = hn::RebindMask(d, hn::Gt(lefts, hn::Zero(di)));
  const auto has_right = hn::RebindMask(d, hn::Lt(lefts, size));
  const V left_value = hn::GatherIndex(d, row.r, left_at);
  const V right_value = hn::GatherIndex(d, row.r, right_at);
  const V left = hn::IfThenElseZero(has_left, hn::GatherIndex(d, row.before, left_at));
  const V right = hn::IfThenElseZero(has_right, hn::GatherIndex(d, row.behind, right_at));
  const V keep = hn::GatherIndex(d, row.keep, left_at);
  const V product = hn::Mul(hn::Mul(left, right), keep);
  const V excess = hn::Sub(k, hn::ConvertTo(d, lefts));
  const V e = hn::Abs(excess);
  const V m = hn::Sqrt(hn::MulAdd(e, e, product));
  const auto to_right = hn::Gt(excess, hn::Zero(d));
  return {hn::IfThenElse(to_right, right_value, left_value),
          hn::IfThenElse(to_right, right, left),
          hn::IfThenElse(to_right, left, right),
          to_right,
          product,
          hn::Add(m, e),
          m};
}

// body(k, lefts, i) for the vectors of levels, and for a padded copy of the last ones.
template <class Body>
HWY_INLINE void for_each_vector(const LevelsAt& levels, Body body) {
  const D d;
  const DI di;
  const hn::Rebind<std::uint32_t, D> d32;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= levels.count; i += lanes) {
    const auto lefts =
        hn::BitCast(di, hn::PromoteTo(hn::RebindToUnsigned<D>(), hn::LoadU(d32, levels.lefts + i)));
    body(hn::LoadU(d, levels.k + i), lefts, i, lanes);
  }
  if (i == levels.count) return;
  HWY_ALIGN double k[hn::MaxLanes(D())] = {};
  HWY_ALIGN std::int64_t lefts[hn::MaxLanes(D())] = {};
  for (std::ptrdiff_t l = 0; l < levels.count - i; ++l) {
    k[l] = levels.k[i + l];
    lefts[l] = levels.lefts[i + l];
  }
  body(hn::Load(d, k), hn::Load(di, lefts), i, levels.count - i);
}

HWY_INLINE void store(D d, V v, std::ptrdiff_t count, double* to) {
  if (count == static_cast<std::ptrdiff_t>(hn::Lanes(d))) return hn::StoreU(v, d, to);
  HWY_ALIGN double all[hn::MaxLanes(D())];
  hn::Store(v, d, all);
  for (std::ptrdiff_t l = 0; l < count; ++l) to[l] = all[l];
}

// LapSum(r_j) = j + 1/2 + (behind - before) / 2.
void first_levels_beyond_all(const SummedRow& row, double level, std::int32_t* first) {
  const D d;
  const hn::Rebind<std::int32_t, D> d32;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const V half = hn::Set(d, 0.5);
  const V shift = hn::Set(d, level - 0.5);
  const auto at = [&](V before, V behind, std::ptrdiff_t j) HWY_ATTR {
    const V lag = hn::Sub(hn::Mul(half, hn::Sub(behind, before)), shift);
    const V next = hn::Add(hn::Iota(d, static_cast<double>(j + 1)), hn::Floor(lag));
    return hn::DemoteTo(d32, next);
  };
  std::ptrdiff_t j = 0;
  for (; j + lanes <= row.n; j += lanes) {
    hn::StoreU(at(hn::LoadU(d, row.before + j), hn::LoadU(d, row.behind + j), j), d32, first + j);
  }
  if (j == row.n) return;
  HWY_ALIGN double last[2][hn::MaxLanes(D())] = {};
  HWY_ALIGN std::int32_t to[hn::MaxLanes(D())];
  for (std::ptrdiff_t l = 0; l < row.n - j; ++l) {
    last[0][l] = row.before[j + l];
    last[1][l] = row.behind[j + l];
  }
  hn::Store(at(hn::Load(d, last[0]), hn::Load(d, last[1]), j), d32, to);
  for (std::ptrdiff_t l = 0; l < row.n - j; ++l) first[j + l] = to[l];
}

void solve_roots_all(const SummedRow& row, const LevelsAt& levels, double* anchor, double* offset) {
  const D d;
  const V alpha = hn::Set(d, row.alpha);
  for_each_vector(levels, [&](V k, VI lefts, std::ptrdiff_t i, std::ptrdiff_t count) HWY_ATTR {
    const Solved at = solve(d, row, k, lefts);
    const V away = hn::Mul(alpha, hn::Log(d, hn::Div(at.sum, at.near_sum)));
    store(d, at.near_value, count, anchor + i);
    store(d, hn::IfThenElse(at.to_right, away, hn::Neg(away)), count, offset + i);
  });
}

void solve_weights_all(const SummedRow& row, const LevelsAt& levels, double* left, double* right,
                       double* total) {
  const D d;
  for_each_vector(levels, [&](V k, VI lefts, std::ptrdiff_t i, std::ptrdiff_t count) HWY_ATTR {
    const Solved at = solve(d, row, k, lefts);
    const V twice = hn::Add(at.m, at.m);
    const V near = hn::Div(at.sum, hn::Mul(twice, at.near_sum));
    const V reachable = hn::Div(at.product, hn::Mul(hn::Mul(twice, at.sum), at.far_sum));
    const V far = hn::IfThenElseZero(hn::Gt(at.product, hn::Zero(d)), reachable);
    store(d, hn::IfThenElse(at.to_right, far, near), count, left + i);
    store(d, hn::IfThenElse(at.to_right, near, far), count, right + i);
    store(d, twice, count, total + i);
  });
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(first_levels_beyond_all);
HWY_EXPORT(solve_roots_all);
HWY_EXPORT(solve_weights_all);

void first_levels_beyond(const SummedRow& row, double level, std::int32_t* first) {
  HWY_DYNAMIC_DISPATCH(first_levels_beyond_all)(row, level, first);
}

void solve_roots(const SummedRow& row, const LevelsAt& levels, double* anchor, double* offset) {
  HWY_DYNAMIC_DISPATCH(solve_roots_all)(row, levels, anchor, offset);
}

void solve_weights(const SummedRow& row, const LevelsAt& levels, double* left, double* right,
                   double* total) {
  HWY_DYNAMIC_DISPATCH(solve_weights_all)(row, levels, left, right, total);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
