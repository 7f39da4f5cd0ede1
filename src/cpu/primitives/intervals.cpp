// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/intervals.h"

#include <bit>

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

// The entries of arrays of the row next to each root.

// One by one, if every root has values on both sides; lefts[l] on the left.
class Between {
 public:
  HWY_INLINE explicit Between(const std::uint32_t* lefts) : lefts_(lefts) {}

  HWY_INLINE V left(const double* from) const { return gather(D(), from - 1, lefts_); }
  HWY_INLINE V right(const double* from) const { return gather(D(), from, lefts_); }
  HWY_INLINE V left_sum(const double* sums) const { return left(sums); }
  HWY_INLINE V right_sum(const double* sums) const { return right(sums); }

 private:
  const std::uint32_t* lefts_;
};

// The same, looked up in two vectors: the neighbours of levels in order fit into them, all but always,
// and many lanes take longer to gather.
class Nearby {
  static constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));

 public:
  HWY_INLINE explicit Nearby(VI lefts)
      : begin_(hn::GetLane(lefts) - 1), place_(hn::Sub(lefts, hn::Set(DI(), begin_ + 1))) {}

  HWY_INLINE bool fits(std::ptrdiff_t n) const {
    const auto inside = hn::And(hn::Not(hn::Gt(hn::Zero(DI()), place_)),
                                hn::Lt(place_, hn::Set(DI(), 2 * kLanes - 1)));
    return begin_ >= 0 && begin_ + 2 * kLanes <= n && hn::AllTrue(DI(), inside);
  }

  HWY_INLINE V left(const double* from) const { return look_up(from, place_); }
  HWY_INLINE V right(const double* from) const {
    return look_up(from, hn::Add(place_, hn::Set(DI(), 1)));
  }
  HWY_INLINE V left_sum(const double* sums) const { return left(sums); }
  HWY_INLINE V right_sum(const double* sums) const { return right(sums); }

 private:
  HWY_INLINE V look_up(const double* from, VI place) const {
    const D d;
    const V low = hn::LoadU(d, from + begin_), high = hn::LoadU(d, from + begin_ + kLanes);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    return V{_mm512_permutex2var_pd(low.raw, place.raw, high.raw)};
#else
    const VI last = hn::Set(DI(), kLanes - 1);
    const auto index = hn::IndicesFromVec(d, hn::And(place, last));
    return hn::IfThenElse(hn::RebindMask(d, hn::Gt(place, last)), hn::TableLookupLanes(high, index),
                          hn::TableLookupLanes(low, index));
#endif
  }

  std::ptrdiff_t begin_;
  VI place_;
};

// A side without values has the other end of the row, and the sum 0.
class Anywhere {
 public:
  HWY_INLINE Anywhere(VI lefts, std::ptrdiff_t n)
      : has_left_(hn::RebindMask(D(), hn::Gt(lefts, hn::Zero(DI())))),
        has_right_(hn::RebindMask(D(), hn::Lt(lefts, hn::Set(DI(), n)))),
        left_(hn::Max(hn::Sub(lefts, hn::Set(DI(), 1)), hn::Zero(DI()))),
        right_(hn::Min(lefts, hn::Set(DI(), n - 1))) {}

  HWY_INLINE V left(const double* from) const { return gather(D(), from, left_); }
  HWY_INLINE V right(const double* from) const { return gather(D(), from, right_); }
  HWY_INLINE V left_sum(const double* sums) const {
    return hn::IfThenElseZero(has_left_, left(sums));
  }
  HWY_INLINE V right_sum(const double* sums) const {
    return hn::IfThenElseZero(has_right_, right(sums));
  }

 private:
  hn::Mask<D> has_left_, has_right_;
  VI left_, right_;
};

template <class T, class Next>
HWY_INLINE Solved solve_with(D d, const SummedRow& row, V k, VI lefts, const Next& next) {
  const V excess = hn::Sub(k, to_doubles(lefts));
  const auto to_right = hn::Gt(excess, hn::Zero(d));
  const V left = next.left_sum(row.before);
  const V right = next.right_sum(row.behind);
  const V product = hn::Mul(hn::Mul(left, right), next.left(row.keep));
  const V e = hn::Abs(excess);
  const V m = square_root<T>(hn::MulAdd(e, e, product));
  return {hn::IfThenElse(to_right, next.right(row.r), next.left(row.r)),
          hn::IfThenElse(to_right, right, left),
          hn::IfThenElse(to_right, left, right),
          to_right,
          product,
          hn::Add(m, e),
          m};
}

// `between` says that every root has values on both sides.
template <class T>
HWY_INLINE Solved solve(D d, const SummedRow& row, V k, const std::uint32_t* lefts_at,
                        bool between) {
  const auto wide =
      hn::PromoteTo(hn::RebindToUnsigned<D>(), hn::LoadU(hn::Rebind<std::uint32_t, D>(), lefts_at));
  const VI lefts = hn::BitCast(DI(), wide);
  if constexpr (hn::MaxLanes(D()) >= 8) {
    const Nearby nearby(lefts);
    if (nearby.fits(row.n)) return solve_with<T>(d, row, k, lefts, nearby);
  } else {
    if (between) return solve_with<T>(d, row, k, lefts, Between(lefts_at));
  }
  return solve_with<T>(d, row, k, lefts, Anywhere(lefts, row.n));
}

// body(k, lefts, i, count) for the vectors of levels, and for a copy of the last ones, padded with the
// first of them.
template <class Body>
HWY_INLINE void for_each_vector(const LevelsAt& levels, Body body) {
  const D d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + lanes <= levels.count; i += lanes) {
    body(hn::LoadU(d, levels.k + i), levels.lefts + i, i, lanes);
  }
  if (i == levels.count) return;
  HWY_ALIGN double k[hn::MaxLanes(D())];
  HWY_ALIGN std::uint32_t lefts[hn::MaxLanes(D())];
  for (std::ptrdiff_t l = 0; l < lanes; ++l) {
    const std::ptrdiff_t t = i + l < levels.count ? i + l : i;
    k[l] = levels.k[t];
    lefts[l] = levels.lefts[t];
  }
  body(hn::Load(d, k), lefts, i, levels.count - i);
}

// Whether every level has values on both sides.
HWY_INLINE bool lie_between(const LevelsAt& levels, std::ptrdiff_t n) {
  std::uint32_t least = levels.lefts[0], most = least;
  for (std::ptrdiff_t i = 1; i < levels.count; ++i) {
    least = HWY_MIN(least, levels.lefts[i]);
    most = HWY_MAX(most, levels.lefts[i]);
  }
  return least > 0 && static_cast<std::ptrdiff_t>(most) < n;
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
    return hn::DemoteTo(d32, hn::Max(next, hn::Zero(d)));
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

void keep_greatest_all(std::uint32_t* numbers, std::ptrdiff_t n) {
  const hn::ScalableTag<std::uint32_t> d;
  constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
  using Indices = decltype(hn::SetTableIndices(d, static_cast<const std::uint32_t*>(nullptr)));
  constexpr int kSteps = std::countr_zero(static_cast<unsigned>(kLanes));
  Indices behind[kSteps + 1];
  for (int i = 0; i <= kSteps; ++i) {
    HWY_ALIGN std::uint32_t from[kLanes];
    for (std::ptrdiff_t l = 0; l < kLanes; ++l) {
      const std::ptrdiff_t seen = i == kSteps ? kLanes - 1 : HWY_MAX(0, l - (1 << i));
      from[l] = static_cast<std::uint32_t>(seen);
    }
    behind[i] = hn::SetTableIndices(d, from);
  }
  auto most = hn::Zero(d);
  std::ptrdiff_t t = 0;
  for (; t + kLanes <= n; t += kLanes) {
    auto v = hn::LoadU(d, numbers + t);
    for (int i = 0; i < kSteps; ++i) v = hn::Max(v, hn::TableLookupLanes(v, behind[i]));
    v = hn::Max(v, most);
    hn::StoreU(v, d, numbers + t);
    most = hn::TableLookupLanes(v, behind[kSteps]);
  }
  for (std::uint32_t last = hn::GetLane(most); t < n; ++t) {
    numbers[t] = last = HWY_MAX(last, numbers[t]);
  }
}

// The roots of a few levels are begun before the logarithm of the first is taken: in one loop each
// would be waited for.
template <class T, bool kRoots, bool kWeights>
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
    const bool between = lie_between(strip, row.n);
    for_each_vector(strip, [&](V k, const std::uint32_t* lefts, std::ptrdiff_t i,
                               std::ptrdiff_t count) HWY_ATTR {
      const Solved at = solve<T>(d, row, k, lefts, between);
      if constexpr (kRoots) {
        store(d, at.near_value, count, roots.anchor + begin + i);
        hn::Store(at.sum, d, sum + i);
        hn::Store(at.near_sum, d, near_sum + i);
        hn::Store(hn::IfThenElse(at.to_right, alpha, hn::Neg(alpha)), d, unit + i);
      }
      if constexpr (kWeights) {
        const V twice = hn::Add(at.m, at.m);
        const auto [near, far] = root_shares<T>(twice, at.sum, at.near_sum, at.far_sum, at.product);
        store(d, hn::IfThenElse(at.to_right, far, near), count, weights.left + begin + i);
        store(d, hn::IfThenElse(at.to_right, near, far), count, weights.right + begin + i);
        store(d, twice, count, weights.total + begin + i);
      }
    });
    if constexpr (kRoots) {
      for (std::ptrdiff_t i = 0; i < strip.count; i += kLanes) {
        const V away = log_ratio<T>(hn::Load(d, sum + i), hn::Load(d, near_sum + i));
        store(d, hn::Mul(hn::Load(d, unit + i), away), HWY_MIN(strip.count - i, kLanes),
              roots.offset + begin + i);
      }
    }
  }
}

void solve_roots_float(const SummedRow& row, const LevelsAt& levels, const RootsTo& to) {
  solve_in<float, true, false>(row, levels, to, {});
}
void solve_roots_double(const SummedRow& row, const LevelsAt& levels, const RootsTo& to) {
  solve_in<double, true, false>(row, levels, to, {});
}
void solve_weights_float(const SummedRow& row, const LevelsAt& levels, const WeightsTo& to) {
  solve_in<float, false, true>(row, levels, {}, to);
}
void solve_weights_double(const SummedRow& row, const LevelsAt& levels, const WeightsTo& to) {
  solve_in<double, false, true>(row, levels, {}, to);
}
void solve_both_all(const SummedRow& row, const LevelsAt& levels, const RootsTo& roots,
                    const WeightsTo& weights) {
  solve_in<double, true, true>(row, levels, roots, weights);
}

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(first_levels_beyond_all);
HWY_EXPORT(keep_greatest_all);
HWY_EXPORT(solve_roots_float);
HWY_EXPORT(solve_roots_double);
HWY_EXPORT(solve_weights_float);
HWY_EXPORT(solve_weights_double);
HWY_EXPORT(solve_both_all);

void first_levels_beyond(const SummedRow& row, double level, std::int32_t* first) {
  HWY_DYNAMIC_DISPATCH(first_levels_beyond_all)(row, level, first);
}

void keep_greatest(std::uint32_t* numbers, std::ptrdiff_t n) {
  HWY_DYNAMIC_DISPATCH(keep_greatest_all)(numbers, n);
}

template <>
void solve_roots<float>(const SummedRow& row, const LevelsAt& levels, const RootsTo& to) {
  HWY_DYNAMIC_DISPATCH(solve_roots_float)(row, levels, to);
}
template <>
void solve_roots<double>(const SummedRow& row, const LevelsAt& levels, const RootsTo& to) {
  HWY_DYNAMIC_DISPATCH(solve_roots_double)(row, levels, to);
}

template <>
void solve_weights<float>(const SummedRow& row, const LevelsAt& levels, const WeightsTo& to) {
  HWY_DYNAMIC_DISPATCH(solve_weights_float)(row, levels, to);
}
template <>
void solve_weights<double>(const SummedRow& row, const LevelsAt& levels, const WeightsTo& to) {
  HWY_DYNAMIC_DISPATCH(solve_weights_double)(row, levels, to);
}

void solve_both(const SummedRow& row, const LevelsAt& levels, const RootsTo& roots,
                const WeightsTo& weights) {
  HWY_DYNAMIC_DISPATCH(solve_both_all)(row, levels, roots, weights);
}

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
