// The last step to the thresholds of float rows, and their masks, in lanes of float: a decay is a float
// and the rest that its rounding leaves, so that ties do not add up to an error.
// Included once per instruction set, after hwy/highway.h, its math and decay-inl.h.
#if defined(LAPSUM_LANE_STEP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_LANE_STEP_INL_H
#undef LAPSUM_LANE_STEP_INL_H
#else
#define LAPSUM_LANE_STEP_INL_H
#endif

#include <span>

#include "cpu/primitives/lane_search-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

/// Of float rows, in units of alpha: values that lie within such a step are seen well enough from here.
constexpr double kSmallStep = 4e-5;

// The largest floats that are not above v.
HWY_INLINE VF floor_of(const Wide& v) {
  const hn::RebindToSigned<DF> di;
  const VF near = narrowed(v);
  const VF over = narrowed(sub(widen(near), v));
  const auto bits = hn::BitCast(di, near);
  const auto one = hn::Set(di, 1);
  const auto is_negative = hn::Lt(bits, hn::Zero(di));
  const auto below = hn::IfThenElse(is_negative, hn::Add(bits, one), hn::Sub(bits, one));
  return hn::IfThenElse(hn::Gt(over, hn::Zero(DF())), hn::BitCast(DF(), below), near);
}

/// e^{-(low - r) / alpha} of values r <= low and e^{-(r - high) / alpha} of the others, with ends and an
/// alpha for each lane, within 1e-8 or zero. If there are no gaps, low and high are the same.
template <bool kGaps>
class LaneDecays {
 public:
  HWY_INLINE LaneDecays(const Wide& low, const Wide& high, const Wide& alpha)
      : floor_(floor_of(low)) {
    const D d;
    const Wide rate = wide([&](std::ptrdiff_t h) HWY_ATTR {
      return hn::Div(hn::Set(d, kLog2e * FewSteps::kCount), alpha.half[h]);
    });
    rate_ = narrowed(rate);
    rate_rest_ = narrowed(sub(rate, widen(rate_)));
    right_ = Side(high, rate);
    left_ = kGaps ? Side(low, rate) : right_;
    const auto reach = [&](const Wide& end, double sign) HWY_ATTR {
      return narrowed(wide([&](std::ptrdiff_t h) HWY_ATTR {
        return hn::MulAdd(hn::Set(d, sign * kFar * kLn2), alpha.half[h], end.half[h]);
      }));
    };
    least_ = reach(low, -1);
    most_ = reach(high, 1);
  }

  /// Lanes whose ends are not too far from zero.
  HWY_INLINE MF can_take() const {
    const VF most = floats(FewSteps::kMostFromZero);
    return hn::And(hn::Le(hn::Abs(left_.start), most), hn::Le(hn::Abs(right_.start), most));
  }

  HWY_INLINE MF is_left(VF r) const { return hn::Le(r, floor_); }

  /// The decay is e + rest, with a minus on the left.
  struct Pair {
    VF e, rest;
  };
  HWY_INLINE Pair operator()(VF r, MF is_left) const {
    const hn::RebindToSigned<DF> di;
    const VF base = kGaps ? hn::IfThenElse(is_left, left_.base, right_.base) : right_.base;
    const VF part = kGaps ? hn::IfThenElse(is_left, left_.part, right_.part) : right_.part;
    const VF moved = hn::MulAdd(r, rate_, base);
    const VF near = hn::MulAdd(r, rate_, hn::Sub(base, moved));
    const VF signed_f = hn::Add(near, hn::MulAdd(r, rate_rest_, part));
    const auto bits = hn::BitCast(di, moved);
    const auto m = hn::IfThenElse(hn::RebindMask(di, is_left), hn::Neg(bits), bits);
    const VF minus = hn::IfThenElseZero(is_left, floats(-0.0));
    const auto [power, g] = FewSteps::scaled<true>(m, hn::Xor(signed_f, minus));
    const VF turned = hn::Xor(power, minus);
    const MF is_near = hn::And(hn::Gt(r, least_), hn::Lt(r, most_));
    const VF e = hn::IfThenElseZero(is_near, hn::MulAdd(turned, g, turned));
    return {e, hn::IfThenElseZero(is_near, hn::MulAdd(turned, g, hn::Sub(turned, e)))};
  }

 private:
  // Octaves from where on decays are zero: their rests would be denormal soon.
  static constexpr double kFar = 88;

  // The distance is r * rate + base + part.
  struct Side {
    Side() = default;
    HWY_INLINE Side(const Wide& end, const Wide& rate) {
      const Wide from = mul(end, rate);
      const Wide whole = wide([&](std::ptrdiff_t h) HWY_ATTR { return hn::Round(from.half[h]); });
      start = narrowed(from);
      base = narrowed(wide([&](std::ptrdiff_t h) HWY_ATTR {
        return hn::Sub(hn::Set(D(), FewSteps::kRound), whole.half[h]);
      }));
      part = narrowed(sub(whole, from));
    }
    VF start, base, part;
  };

  VF floor_, rate_, rate_rest_, least_, most_;
  Side left_, right_;
};

// At b the sum of the mask and its slope give the root as if it were a line, from where the search has
// come: what is neglected is of the square of the step, as are values between. A whole k in a wide
// gap is half way, but for how much lies beyond its ends.
template <bool kTile, bool kGaps>
class LaneStep {
  // Of less than that, decays that were taken for zero are a part.
  static constexpr double kLeastSlope = 0x1p-48;

 public:
  template <class T>
  HWY_INLINE LaneStep(Entries<kTile> entries, const LaneSearch<kTile, T>& found)
      : entries_(entries),
        r_(found.values()),
        e_(found.room(0)),
        rest_(found.room(1)),
        alpha_(found.alpha()),
        is_gap_(found.gaps()),
        b_(add(found.anchor(), found.offset())),
        low_(kGaps ? choose(is_gap_, widen(found.below()), b_) : b_),
        high_(kGaps ? choose(is_gap_, widen(found.above()), b_) : b_),
        decays_(low_, high_, alpha_) {
    find_step(found.k(), found.wanted());
  }

  MF solved() const { return solved_; }

  template <class T>
  HWY_INLINE void write(std::span<Lane<T>> rows, Arena& arena) const {
    T* to[kWidth];
    if (!tell(rows, solved_, b_, mul(alpha_, step_), to)) return;
    const VF step = kGaps ? hn::IfThenZeroElse(is_gap_, narrowed(step_)) : narrowed(step_);
    const VF scale = kGaps ? at_end(1) : floats(1);
    const VF left_scale = kGaps ? at_end(-1) : scale;
    const float* const r_at = r_;
    const float* const e_at = e_;
    const float* const rest_at = rest_;
    const LaneDecays<kGaps> decays = decays_;
    const auto mask = [&](std::ptrdiff_t at) HWY_ATTR {
      const DF d;
      VF e = hn::LoadU(d, e_at + at);
      VF rest = hn::LoadU(d, rest_at + at);
      const MF is_left = decays.is_left(hn::LoadU(d, r_at + at));
      if constexpr (kGaps) {
        const VF own = hn::IfThenElse(is_left, left_scale, scale);
        const VF scaled = hn::Mul(e, own);
        // Denormal floats are slow and of no use.
        e = hn::IfThenElseZero(hn::Ge(hn::Abs(scaled), floats(0x1p-124)), scaled);
        rest = hn::Mul(rest, own);
      }
      const VF half = floats(0.5);
      const VF begin = hn::IfThenElseZero(is_left, floats(1));
      const VF near = hn::MulAdd(e, half, begin);
      const VF error = hn::MulAdd(e, half, hn::Sub(begin, near));
      return hn::Add(near, hn::MulAdd(hn::MulAdd(hn::Abs(e), step, rest), half, error));
    };
    entries_.bring_home(mask, std::span<T* const>(to, rows.size()), arena);
  }

 private:
  // Sets how far the root is, in units of alpha, which lanes have found it, and the decays.
  HWY_INLINE void find_step(const Wide& k, MF wanted) {
    const float* const r_at = r_;
    float* const e_at = e_;
    float* const rest_at = rest_;
    const LaneDecays<kGaps> decays = decays_;
    // Rows in lanes are short: all of them are a strip.
    entries_.for_each_vector([&](std::ptrdiff_t at) HWY_ATTR {
      const DF d;
      const VF r = hn::LoadU(d, r_at + at);
      const auto [e, rest] = decays(r, decays.is_left(r));
      hn::StoreU(e, d, e_at + at);
      hn::StoreU(rest, d, rest_at + at);
    });
    using Seen = Sums<kGaps ? 4 : 3, kGaps ? 2 : 1>;
    const auto s = entries_.template add_up<Seen>([&](Seen& sums, std::ptrdiff_t at) HWY_ATTR {
      const DF d;
      const MF is_left = decays.is_left(hn::LoadU(d, r_at + at));
      const VF e = hn::LoadU(d, e_at + at), rest = hn::LoadU(d, rest_at + at);
      sums.sum[0] = add_if(is_left, sums.sum[0], floats(1));
      sums.sum[1] = add_if(is_left, sums.sum[1], e);
      sums.sum[2] = hn::Add(sums.sum[2], rest);
      sums.wide_sum[0] = add(sums.wide_sum[0], widen(e));
      if constexpr (kGaps) {
        sums.sum[3] = add_if(is_left, sums.sum[3], rest);
        sums.wide_sum[1] = add(sums.wide_sum[1], widen(hn::IfThenElseZero(is_left, e)));
      }
    });
    const Wide count = widen(s.sum[0]), left = widen(s.sum[1]), rest = widen(s.sum[2]);
    const Wide excess = sub(k, count);
    const Wide sum = add(s.wide_sum[0], rest);
    const Wide slope = wide([&](std::ptrdiff_t h) HWY_ATTR {
      return hn::NegMulAdd(hn::Set(D(), 2.0), left.half[h], s.wide_sum[0].half[h]);
    });
    step_ = wide([&](std::ptrdiff_t h) HWY_ATTR {
      const V missing = hn::MulSub(hn::Set(D(), 2.0), excess.half[h], sum.half[h]);
      return hn::Div(missing, slope.half[h]);
    });
    const MF near = hn::Le(hn::Abs(narrowed(step_)), floats(kSmallStep));
    const MF can = hn::And(near, hn::Ge(narrowed(slope), floats(kLeastSlope)));
    solved_ = hn::And(wanted, can);
    if constexpr (kGaps) {
      const Wide minus_left = add(s.wide_sum[1], widen(s.sum[3]));
      step_ = choose(is_gap_, wide([&](std::ptrdiff_t h) HWY_ATTR {
                       const V right = hn::Sub(sum.half[h], minus_left.half[h]);
                       const V ratio = hn::Div(hn::Neg(minus_left.half[h]), right);
                       return hn::Mul(hn::Set(D(), 0.5), hn::Log(D(), ratio));
                     }),
                     step_);
      const MF is_whole = hn::Eq(narrowed(excess), hn::Zero(DF()));
      solved_ = hn::Or(hn::AndNot(is_gap_, solved_), hn::And(is_gap_, is_whole));
      b_ = choose(is_gap_, wide([&](std::ptrdiff_t h) HWY_ATTR {
                    return hn::Mul(hn::Set(D(), 0.5), hn::Add(low_.half[h], high_.half[h]));
                  }),
                  b_);
    }
    solved_ = hn::And(solved_, decays_.can_take());
  }

  // What decays are at the left or the right ends of gaps, as seen from their roots.
  HWY_INLINE VF at_end(double side) const {
    const D d;
    const Wide decay = wide([&](std::ptrdiff_t h) HWY_ATTR {
      const V half_way = hn::Div(hn::Sub(b_.half[h], high_.half[h]), alpha_.half[h]);
      return hn::Exp(d, hn::MulAdd(hn::Set(d, side), step_.half[h], half_way));
    });
    return hn::IfThenElse(is_gap_, narrowed(decay), floats(1));
  }

  Entries<kTile> entries_;
  const float* r_;
  float *e_, *rest_;
  Wide alpha_;
  MF is_gap_;
  Wide b_, low_, high_, step_;
  LaneDecays<kGaps> decays_;
  MF solved_;
};

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
