// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/intervals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/intervals.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include "cpu/primitives/gather-inl.h"
#include "cpu/primitives/intervals-inl.h"
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

// Where the values next to each root stand; a side without values has the other end of the row.
struct Neighbours {
  VI left, right;
};

// look_up(array, at) gives the entries of an array of the row.
template <class LookUp>
HWY_INLINE Solved solve_with(D d, const SummedRow& row, V k, VI lefts, const Neighbours& next,
                             LookUp look_up) {
  const DI di;
  const auto has_left = hn::RebindMask(d, hn::Gt(lefts, hn::Zero(di)));
  const auto has_right = hn::RebindMask(d, hn::Lt(lefts, hn::Set(di, row.n)));
  const V excess = hn::Sub(k, to_doubles(lefts));
  const auto to_right = hn::Gt(excess, hn::Zero(d));
  const VI near_at = hn::IfThenElse(hn::RebindMask(di, to_right), next.right, next.left);
  const V left = hn::IfThenElseZero(has_left, look_up(row.before, next.left));
  const V right = hn::IfThenElseZero(has_right, look_up(row.behind, next.right));
  const V product = hn::Mul(hn::Mul(left, right), look_up(row.keep, next.left));
  const V e = hn::Abs(excess);
  const V m = hn::Sqrt(hn::MulAdd(e, e, product));
  return {look_up(row.r, near_at),
          hn::IfThenElse(to_right, right, left),
          hn::IfThenElse(to_right, left, right),
          to_right,
          product,
          hn::Add(m, e),
          m};
}

HWY_INLINE Solved solve(D d, const SummedRow& row, V k, VI lefts) {
  const DI di;
  const Neighbours next{hn::Max(hn::Sub(lefts, hn::Set(di, 1)), hn::Zero(di)),
                        hn::Min(lefts, hn::Set(di, row.n - 1))};
  constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  if constexpr (kLanes >= 4) {
    // Levels in order have neighbours that fit into two vectors, all but always. To look them up
    // there takes less than to gather them.
    const std::ptrdiff_t begin = hn::GetLane(next.left);
    const VI first = hn::Set(di, begin);
    const VI last = hn::Set(di, begin + 2 * kLanes - 1);
    const auto near = hn::And(hn::Not(hn::Gt(first, next.left)), hn::Not(hn::Gt(next.right, last)));
    if (begin + 2 * kLanes <= row.n && hn::AllTrue(di, near)) {
      return solve_with(d, row, k, lefts, next, [&](const double* from, VI at) HWY_ATTR {
        const VI place = hn::Sub(at, first);
        const auto index = hn::IndicesFromVec(d, hn::And(place, hn::Set(di, kLanes - 1)));
        const V low = hn::TableLookupLanes(hn::LoadU(d, from + begin), index);
        const V high = hn::TableLookupLanes(hn::LoadU(d, from + begin + kLanes), index);
        return hn::IfThenElse(hn::RebindMask(d, hn::Gt(place, hn::Set(di, kLanes - 1))), high, low);
      });
    }
  }
  return solve_with(d, row, k, lefts, next,
                    [&](const double* from, VI at) HWY_ATTR { return gather(d, from, at); });
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

// The roots of a few levels are begun before the logarithm of the first is taken: in one loop each
// would be waited for.
template <bool kRoots, bool kWeights>
HWY_INLINE void solve_in(const SummedRow& row, const LevelsAt& levels, const RootsTo& roots,
                         const WeightsTo& weights) {
  const D d;
  constexpr std::ptrdiff_t kStrip = 128;
  constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  HWY_ALIGN double sum[kStrip], near_sum[kStrip], unit[kStrip];
  const V alpha = hn::Set(d, row.alpha);
  for (std::ptrdiff_t begin = 0; begin < levels.count; begin += kStrip) {
    const LevelsAt strip{levels.k + begin, levels.lefts + begin,
                         HWY_MIN(levels.count - begin, kStrip)};
    for_each_vector(strip, [&](V k, VI lefts, std::ptrdiff_t i, std::ptrdiff_t count) HWY_ATTR {
      const Solved at = solve(d, row, k, lefts);
      if constexpr (kRoots) {
        store(d, at.near_value, count, roots.anchor + begin + i);
        hn::Store(at.sum, d, sum + i);
        hn::Store(at.near_sum, d, near_sum + i);
        hn::Store(hn::IfThenElse(at.to_right, alpha, hn::Neg(alpha)), d, unit + i);
      }
      if constexpr (kWeights) {
        const V twice = hn::Add(at.m, at.m);
        const auto [near, far] = root_shares(twice, at.sum, at.near_sum, at.far_sum, at.product);
        store(d, hn::IfThenElse(at.to_right, far, near), count, weights.left + begin + i);
        store(d, hn::IfThenElse(at.to_right, near, far), count, weights.right + begin + i);
        store(d, twice, count, weights.total + begin + i);
      }
    });
    if constexpr (kRoots) {
      for (std::ptrdiff_t i = 0; i < strip.count; i += kLanes) {
        const V away = log_ratio<double>(hn::Load(d, sum + i), hn::Load(d, near_sum + i));
        store(d, hn::Mul(hn::Load(d, unit + i), away), HWY_MIN(strip.count - i, kLanes),
              roots.offset + begin + i);
      }
    }
  }
}

void solve_roots_all(const SummedRow& row, const LevelsAt& levels, const RootsTo& to) {
  solve_in<true, false>(row, levels, to, {});
}
void solve_weights_all(const SummedRow& row, const LevelsAt& levels, const WeightsTo& to) {
  solve_in<false, true>(row, levels, {}, to);
}
void solve_both_all(const SummedRow& row, const LevelsAt& levels, const RootsTo& roots,
                    const WeightsTo& weights) {
  solve_in<true, true>(row, levels, roots, weights);
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(first_levels_beyond_all);
HWY_EXPORT(solve_roots_all);
HWY_EXPORT(solve_weights_all);
HWY_EXPORT(solve_both_all);

void first_levels_beyond(const SummedRow& row, double level, std::int32_t* first) {
  HWY_DYNAMIC_DISPATCH(first_levels_beyond_all)(row, level, first);
}

void solve_roots(const SummedRow& row, const LevelsAt& levels, const RootsTo& to) {
  HWY_DYNAMIC_DISPATCH(solve_roots_all)(row, levels, to);
}

void solve_weights(const SummedRow& row, const LevelsAt& levels, const WeightsTo& to) {
  HWY_DYNAMIC_DISPATCH(solve_weights_all)(row, levels, to);
}

void solve_both(const SummedRow& row, const LevelsAt& levels, const RootsTo& roots,
                const WeightsTo& weights) {
  HWY_DYNAMIC_DISPATCH(solve_both_all)(row, levels, roots, weights);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
