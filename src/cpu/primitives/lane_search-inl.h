// A rough search for thresholds, in floats: near enough for a few exact steps to end it. Of rows of
// double it sees the distances from their first values, rounded.
// Included once per instruction set, after hwy/highway.h, its math and decay-inl.h.
#if defined(LAPSUM_LANE_SEARCH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LAPSUM_LANE_SEARCH_INL_H
#undef LAPSUM_LANE_SEARCH_INL_H
#else
#define LAPSUM_LANE_SEARCH_INL_H
#endif

#include <limits>
#include <span>

#include "cpu/primitives/lane_entries-inl.h"
#include "math/normal.h"

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

constexpr float kInf = std::numeric_limits<float>::infinity();

HWY_INLINE VF floats(double v) { return hn::Set(DF(), static_cast<float>(v)); }

template <bool kTile, class T>
class LaneSearch {
 public:
  LaneSearch(Entries<kTile> entries, std::span<const Lane<T>> rows, std::ptrdiff_t n, Arena& arena)
      : entries_(entries),
        n_(static_cast<float>(n)),
        r_(entries.room(arena)),
        u_(entries.room(arena)),
        w_(entries.room(arena)) {
    take(rows, n);
    guess();
  }

  /// Moves to the roots, or near them.
  HWY_INLINE void run() {
    const DF d;
    const MF counted = hn::And(narrow_, wanted_);
    const MF near = hn::AllFalse(d, counted) ? wanted_ : hn::AndNot(count(counted), wanted_);
    const MF lost = hn::AndNot(counted, climb(near));
    if (!hn::AllFalse(d, lost)) climb(hn::AndNot(count(lost), lost));
    if constexpr (kIsDouble<T>) anchor_ = add(anchor_, origin_);
  }

  /// sign * x, or such distances, padded with infinities.
  const float* values() const { return r_; }
  /// Room for two floats of each entry, which is not needed any more.
  float* room(int which) const { return which == 0 ? u_ : w_; }
  const Wide& k() const { return k_; }
  const Wide& alpha() const { return alpha_; }
  const Wide& anchor() const { return anchor_; }
  const Wide& offset() const { return offset_; }
  MF wanted() const { return wanted_; }

  /// Lanes whose level is in a gap so wide that there is nothing to climb, and the ends of those; of
  /// rows of double they are not known.
  MF gaps() const { return hn::Lt(below_, above_); }
  VF below() const { return below_; }
  VF above() const { return above_; }

  /// Tells rows the ends of gaps that are too wide to go on.
  void tell_ends(std::span<Lane<T>> rows) const {
    if constexpr (kIsDouble<T>) return;
    const MF far = hn::AndNot(wanted_, gaps());
    if (hn::AllFalse(DF(), far)) return;
    HWY_ALIGN float below[kWidth], above[kWidth];
    hn::Store(hn::IfThenElseZero(far, below_), DF(), below);
    hn::Store(hn::IfThenElseZero(far, above_), DF(), above);
    for (std::size_t l = 0; l < rows.size(); ++l) {
      rows[l].below = below[l];
      rows[l].above = above[l];
    }
  }

 private:
  // What it sees of an element.
  using Seen = std::conditional_t<kIsDouble<T>, float, T>;
  static HWY_INLINE const Seen* seen(const T* x, std::ptrdiff_t n, float* to) {
    if constexpr (!kIsDouble<T>) {
      return x;
    } else {
      const D d;
      const hn::Rebind<float, D> half;
      const V first = hn::Set(d, x[0]);
      std::ptrdiff_t i = 0;
      for (; i + kHalf <= n; i += kHalf) {
        hn::StoreU(hn::DemoteTo(half, hn::Sub(hn::LoadU(d, x + i), first)), half, to + i);
      }
      for (; i < n; ++i) to[i] = static_cast<float>(x[i] - x[0]);
      return to;
    }
  }

  void take(std::span<const Lane<T>> rows, std::ptrdiff_t n) {
    const DF d;
    const Seen* from[kWidth] = {};
    HWY_ALIGN double k[kWidth], alpha[kWidth], start[kWidth];
    HWY_ALIGN float sign[kWidth], first[kWidth], there[kWidth];
    for (std::ptrdiff_t l = 0; l < kWidth; ++l) {
      const bool is_there = l < std::ssize(rows);
      const Lane<T>& row = rows[is_there ? static_cast<std::size_t>(l) : 0];
      from[l] = is_there ? seen(row.x, n, u_ + l * n) : from[0];
      k[l] = row.k;
      alpha[l] = row.alpha;
      start[l] = row.sign * to_double(row.x[0]);
      sign[l] = static_cast<float>(row.sign);
      first[l] = sign[l] * to_work(from[l][0]);
      there[l] = is_there || !kTile ? 1 : 0;
    }
    k_ = load_lanes(k);
    alpha_ = load_lanes(alpha);
    origin_ = load_lanes(start);
    wanted_ = hn::Gt(hn::Load(d, there), hn::Zero(d));
    entries_.fill(from, sign, first[0], r_);
    const VF origin = hn::Load(d, first);
    const float* const r_at = r_;
    const auto s = entries_.template add_up<Sums<2>>([&](Sums<2>& sums, std::ptrdiff_t e) HWY_ATTR {
      const VF moved = hn::Sub(hn::LoadU(d, r_at + e), origin);
      sums.sum[0] = hn::Add(sums.sum[0], moved);
      sums.sum[1] = hn::MulAdd(moved, moved, sums.sum[1]);
    });
    entries_.pad(r_, kInf);
    const VF mean = hn::Mul(s.sum[0], floats(1 / n_));
    const VF square = hn::Mul(s.sum[1], floats(1 / n_));
    mean_ = hn::Add(origin, mean);
    variance_ = hn::Max(hn::Zero(d), hn::NegMulAdd(mean, mean, square));
    constexpr double kMost = 1e36;  // NaN is not below it either
    wanted_ = hn::And(wanted_, hn::Lt(square, floats(kMost)));
  }

  // A first threshold: as if the row had a normal distribution of its variance.
  void guess() {
    const DF d;
    const Wide whole = wide([&](std::ptrdiff_t h) HWY_ATTR { return hn::Round(k_.half[h]); });
    whole_ = narrowed(whole);
    fraction_ = narrowed(sub(k_, whole));
    const VF alpha = narrowed(alpha_);
    rate_ = hn::Div(floats(kLog2e), alpha);
    const VF level = hn::Add(whole_, fraction_);
    const VF one = floats(1);
    const VF least = floats(0.5f / n_);
    const VF share = hn::Min(hn::Max(hn::Mul(level, floats(1 / n_)), least), hn::Sub(one, least));
    const VF rest = hn::Sub(one, share);
    const VF square = hn::MulAdd(floats(2), hn::Mul(alpha, alpha), variance_);
    // As math::normal_quantile.
    const VF log = hn::Log(d, hn::Mul(floats(4), hn::Mul(share, rest)));
    const VF t = hn::MulAdd(floats(0.5), log, floats(math::kErfStart));
    const VF root = hn::Sqrt(hn::NegMulAdd(log, floats(1 / math::kErf), hn::Mul(t, t)));
    const VF quantile = hn::Sqrt(hn::Mul(floats(2), hn::Max(hn::Zero(d), hn::Sub(root, t))));
    const VF width = hn::Sqrt(square);
    const VF b = hn::MulAdd(width, hn::CopySign(quantile, hn::Sub(share, rest)), mean_);
    // As if it were logistic, with heavier tails.
    spacing_ = hn::Div(hn::Mul(floats(1 / 1.7), width), hn::Mul(floats(n_), hn::Mul(share, rest)));
    const auto is_inside = [&](VF v, double low, double high) HWY_ATTR {
      return hn::And(hn::Gt(v, floats(low)), hn::Lt(v, floats(high)));
    };
    wanted_ = hn::And(wanted_, is_inside(alpha, 1e-30, 1e30));
    wanted_ = hn::And(wanted_, hn::And(is_inside(b, -1e37, 1e37), is_inside(level, 0, n_)));
    b_ = hn::IfThenElseZero(wanted_, b);
    anchor_ = widen(b_);
    offset_ = wide([](std::ptrdiff_t) HWY_ATTR { return hn::Zero(D()); });
    // If alpha is wider, the guess is near enough to climb from.
    constexpr double kNarrow = 0.006;
    narrow_ = hn::Lt(hn::Mul(alpha, alpha), hn::Mul(floats(kNarrow * kNarrow), variance_));
  }

  // How many values lie to the left of b, and the nearest ones of both sides.
  struct Look {
    VF count, below, above;
  };
  HWY_INLINE Look look() const {
    const DF d;
    Look seen{hn::Zero(d), floats(-kInf), floats(kInf)};
    const VF b = b_;
    const VF one = floats(1);
    const float* const r_at = r_;
    entries_.for_each_vector([&](std::ptrdiff_t e) HWY_ATTR {
      const VF r = hn::LoadU(d, r_at + e);
      const MF is_left = hn::Le(r, b);
      seen.count = add_if(is_left, seen.count, one);
      seen.below = hn::IfThenElse(is_left, hn::Max(seen.below, r), seen.below);
      seen.above = hn::IfThenElse(is_left, seen.above, hn::Min(seen.above, r));
    });
    return {entries_.count(seen.count), entries_.largest(seen.below),
            entries_.smallest(seen.above)};
  }

  // Goes between the two values where the level would be met if alpha were 0. Returns the lanes
  // whose root is far from both of them, half way: there is nothing to climb.
  MF count(MF wanted) {
    const DF d;
    const VF zero = hn::Zero(d);
    const VF half = floats(0.5);
    const VF nowhere = floats(kInf);
    // Climbing takes it on from this many alphas.
    constexpr double kReach = 16;
    const VF near = hn::Max(half, hn::Div(floats(kReach * kLog2e), hn::Mul(rate_, spacing_)));
    VF floor = hn::Neg(nowhere), ceil = nowhere;
    VF ahead = zero, behind = zero;  // what is missing at the floor, and too much at the ceiling
    MF going = wanted, was_up = hn::Lt(zero, zero), was_down = was_up;
    Look seen = look();
    constexpr int kMostSteps = 16;
    for (int steps = 0; steps < kMostSteps; ++steps) {
      const VF excess = hn::Add(hn::Sub(whole_, seen.count), fraction_);
      const MF up = hn::Gt(excess, near);
      const MF down = hn::Lt(excess, hn::Neg(near));
      floor = hn::IfThenElse(up, seen.above, floor);
      ceil = hn::IfThenElse(down, seen.below, ceil);
      // An end that stays counts less, or a far value would hold the next step back.
      const VF left_behind = floats(0.25);
      const VF rest = hn::Sub(hn::Abs(excess), half);
      const VF nearer_ahead =
          hn::IfThenElse(hn::And(down, was_down), hn::Mul(ahead, left_behind), ahead);
      const VF nearer_behind =
          hn::IfThenElse(hn::And(up, was_up), hn::Mul(behind, left_behind), behind);
      ahead = hn::IfThenElse(up, rest, nearer_ahead);
      behind = hn::IfThenElse(down, rest, nearer_behind);
      was_up = up;
      was_down = down;
      going = hn::And(going, hn::And(hn::Or(up, down), hn::Lt(floor, ceil)));
      if (hn::AllFalse(d, going)) break;
      const VF part = hn::Div(ahead, hn::Add(ahead, behind));
      const VF inside = hn::MulAdd(hn::Sub(ceil, floor), part, floor);
      const VF towards = hn::Sub(excess, hn::CopySign(half, excess));
      const VF outside = hn::MulAdd(towards, spacing_, b_);
      const MF both = hn::And(hn::Gt(floor, hn::Neg(nowhere)), hn::Lt(ceil, nowhere));
      const VF next = hn::IfThenElse(both, inside, outside);
      // To stand on the ceiling would be to look at the same values again.
      const VF under = hn::IfThenElse(hn::Lt(next, ceil), next, floor);
      b_ = hn::IfThenElse(going, hn::Max(under, floor), b_);
      seen = look();
    }
    const VF low = hn::IfThenElse(hn::Eq(seen.below, hn::Neg(nowhere)), seen.above, seen.below);
    const VF high = hn::IfThenElse(hn::Eq(seen.above, nowhere), seen.below, seen.above);
    const VF excess = hn::Add(hn::Sub(whole_, seen.count), fraction_);
    const VF little = floats(1e-9);  // what a mask of zeros and ones may leave out
    const VF middle = hn::MulAdd(hn::Sub(high, low), half, low);
    const VF below = hn::IfThenElse(hn::Lt(excess, hn::Neg(little)), low, middle);
    b_ = hn::IfThenElse(wanted, hn::IfThenElse(hn::Gt(excess, little), high, below), b_);
    anchor_ = choose(wanted, widen(b_), anchor_);
    const VF gap =
        hn::IfThenElseZero(hn::Le(hn::Abs(excess), little), hn::Mul(hn::Sub(high, low), rate_));
    constexpr double kMost = 1900;  // beyond these octaves nothing is left of doubles half way
    const MF far = hn::And(wanted, hn::Gt(gap, floats(kMost)));
    wanted_ = hn::AndNot(far, wanted_);
    const MF wide_gap = hn::And(wanted, hn::Gt(gap, floats(kIsDouble<T> ? 90 : 40)));
    if constexpr (!kIsDouble<T>) {
      below_ = hn::IfThenElse(wide_gap, low, below_);
      above_ = hn::IfThenElse(wide_gap, high, above_);
    }
    return wide_gap;
  }

  // With u = e^{(r - b) / alpha} and w = 1 / u every step adds up those to the left of t and those
  // to the right, and solves for t as if no value lay between the old and the new one. Values
  // between them leave an error of at most the square of the step. Returns the lanes that did not
  // arrive, whose thresholds stay.
  MF climb(MF wanted) {
    const DF d;
    put_powers();
    const float* const u_at = u_;
    const float* const w_at = w_;
    const VF one = floats(1);
    MF going = wanted;
    VF t = one;
    constexpr int kMostSteps = 8;
    for (int steps = 0; steps < kMostSteps && !hn::AllFalse(d, going); ++steps) {
      const auto s =
          entries_.template add_up<Sums<3>>([&](Sums<3>& sums, std::ptrdiff_t e) HWY_ATTR {
            const VF u = hn::LoadU(d, u_at + e);
            const MF is_left = hn::Le(u, t);
            sums.sum[0] = add_if(is_left, sums.sum[0], one);
            sums.sum[1] = add_if(is_left, sums.sum[1], u);
            sums.sum[2] = add_if(hn::Not(is_left), sums.sum[2], hn::LoadU(d, w_at + e));
          });
      const VF left = s.sum[1], right = s.sum[2];
      const VF excess = hn::Add(hn::Sub(whole_, s.sum[0]), fraction_);
      const VF m = hn::Sqrt(hn::MulAdd(excess, excess, hn::Mul(left, right)));
      const VF sum = hn::Add(m, hn::Abs(excess));
      const MF up = hn::Gt(excess, hn::Zero(d));
      const VF over = hn::IfThenElse(up, sum, left);
      const VF under = hn::IfThenElse(up, right, sum);
      const VF next = hn::Min(hn::Max(hn::Div(over, under), floats(0x1p-90)), floats(0x1p90));
      // One value crossed, and those that can be expected, against the 2 m within reach.
      const VF moved = hn::Abs(hn::Sub(hn::Div(over, hn::Mul(under, t)), one));
      const VF crossed = hn::MulAdd(hn::Mul(floats(4), moved), m, one);
      const MF near = hn::Le(hn::Mul(hn::Mul(moved, moved), crossed), hn::Mul(m, floats(2e-5)));
      t = hn::IfThenElse(going, next, t);
      going = hn::AndNot(near, going);
    }
    const MF out = hn::Or(hn::Lt(t, floats(0x1p-50)), hn::Gt(t, floats(0x1p50)));
    const MF lost = hn::And(wanted, hn::Or(going, out));
    const MF found = hn::AndNot(lost, wanted);
    const Wide away = widen(hn::Log(d, hn::IfThenElse(found, t, one)));
    offset_ = wide([&](std::ptrdiff_t h) HWY_ATTR {
      return hn::MulAdd(alpha_.half[h], away.half[h], offset_.half[h]);
    });
    return lost;
  }

  void put_powers() {
    const DF d;
    const hn::RebindToSigned<DF> di;
    const VF rate = rate_;
    const VF center = b_;
    const float* const r_at = r_;
    float* const u_at = u_;
    float* const w_at = w_;
    constexpr double kSquare = kLn2 * kLn2;
    entries_.for_each_vector([&](std::ptrdiff_t e) HWY_ATTR {
      const VF y = hn::Mul(hn::Sub(hn::LoadU(d, r_at + e), center), rate);
      const VF cut = hn::Min(hn::Max(y, floats(-100)), floats(100));
      const VF round = floats(0x1.8p23);
      const VF moved = hn::Add(cut, round);
      const VF f = hn::Sub(cut, hn::Sub(moved, round));
      const VF ff = hn::Mul(f, f);
      const VF even_rest = hn::MulAdd(ff, floats(kSquare * kSquare / 24), floats(kSquare / 2));
      const VF even = hn::MulAdd(ff, even_rest, floats(1));
      const VF odd_rest =
          hn::MulAdd(ff, floats(kSquare * kSquare * kLn2 / 120), floats(kSquare * kLn2 / 6));
      const VF odd = hn::MulAdd(ff, odd_rest, floats(kLn2));
      const auto octaves = hn::ShiftLeft<23>(hn::BitCast(di, moved));
      const auto up = hn::BitCast(di, hn::MulAdd(f, odd, even));
      const auto down = hn::BitCast(di, hn::NegMulAdd(f, odd, even));
      hn::StoreU(hn::BitCast(d, hn::Add(up, octaves)), d, u_at + e);
      hn::StoreU(hn::BitCast(d, hn::Sub(down, octaves)), d, w_at + e);
    });
    entries_.pad(w_, 0.0f);
  }

  Entries<kTile> entries_;
  float n_;
  float *r_, *u_, *w_;
  Wide k_, alpha_, origin_, anchor_, offset_;
  VF whole_, fraction_, rate_, mean_, variance_, spacing_, b_;
  VF below_ = hn::Zero(DF()), above_ = hn::Zero(DF());
  MF wanted_, narrow_;
};

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
