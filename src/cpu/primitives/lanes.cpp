// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/lanes.h"

#include <limits>

#include "cpu/primitives/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/primitives/lanes.cpp"
#include <hwy/foreach_target.h>
// clang-format off: these must follow foreach_target.h
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "cpu/primitives/decay-inl.h"
#include "cpu/primitives/lane_search-inl.h"
#include "cpu/primitives/lane_step-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace lapsum::cpu::HWY_NAMESPACE {

// Exact steps, from where the search has come, row by row: at b the decayed sums of both sides and
// the count give the root as if no value lay between, as math::solve_interval does. If none does, or
// the step is so small that they do not count, the decays at the root are those at b times a ratio.
template <class T>
class LaneSolve {
  static constexpr double kSmall = kIsDouble<T> ? 1e-8 : kSmallStep;
  static constexpr std::ptrdiff_t kNearBytes = 1 << 14;

 public:
  template <bool kTile>
  LaneSolve(std::span<Lane<T>> rows, std::ptrdiff_t n, const LaneSearch<kTile, T>& found, MF wanted,
            Arena& arena)
      : rows_(rows),
        n_(n),
        stride_((n + kHalf - 1) / kHalf * kHalf),
        group_(
            std::max<std::ptrdiff_t>(1, kNearBytes / (stride_ * std::ptrdiff_t{sizeof(double)}))),
        e_(arena.take<double>(stride_ * group_).data()),
        k_(found.k()),
        alpha_(found.alpha()),
        b_(add(found.anchor(), found.offset())),
        wanted_(hn::And(wanted, hn::FirstN(DF(), rows.size()))) {}

  /// The rows go in groups whose decays stay in the nearest cache until they are masks.
  HWY_INLINE void run() {
    for (first_ = 0; first_ < std::ssize(rows_); first_ += group_) {
      end_ = HWY_MIN(first_ + group_, std::ssize(rows_));
      const MF before = hn::FirstN(DF(), static_cast<std::size_t>(first_));
      const MF group = hn::AndNot(before, hn::FirstN(DF(), static_cast<std::size_t>(end_)));
      solve(hn::And(group, wanted_));
      write();
    }
  }

 private:
  HWY_INLINE void solve(MF wanted) {
    constexpr int kMostSteps = 4;
    MF going = wanted;
    for (int steps = 1;; ++steps) {
      look(going);
      const VF reach = find_step();
      const VF size = hn::Abs(narrowed(step_));
      const MF near = hn::Le(size, reach);
      solved_ = hn::And(wanted, near);
      going = hn::AndNot(near, hn::And(wanted, hn::Lt(size, floats(1e30))));
      if (steps == kMostSteps || hn::AllFalse(DF(), going)) return;
      b_ = choose(going, add(b_, mul(alpha_, step_)), b_);
    }
  }

  HWY_INLINE void write() const {
    T* to[kWidth];
    if (!tell(rows_, solved_, b_, mul(alpha_, step_), to)) return;
    HWY_ALIGN double ratio[kWidth];
    store_lanes(ratio_, ratio);
    for (std::ptrdiff_t l = first_; l < end_; ++l) {
      if (to[l]) write(decays_of(l), ratio[l], to[l]);
    }
  }

  // What a row's decays add up to, in its lane, and the largest of both sides.
  struct Totals {
    HWY_ALIGN double count[kWidth] = {}, left[kWidth] = {}, right[kWidth] = {};
    HWY_ALIGN double left_most[kWidth] = {}, right_most[kWidth] = {};
  };

  double* decays_of(std::ptrdiff_t l) const { return e_ + (l - first_) * stride_; }

  // Decays of values to the left bear a sign, even if they are zero.
  static HWY_INLINE V marked(Lanes is_left, V e) { return hn::IfThenElse(is_left, hn::Neg(e), e); }
  static HWY_INLINE Lanes is_marked(V e) {
    const hn::RebindToSigned<D> di;
    return hn::RebindMask(D(), hn::Lt(hn::BitCast(di, e), hn::Zero(di)));
  }

  HWY_INLINE void look(MF wanted) {
    HWY_ALIGN double b[kWidth];
    HWY_ALIGN float is_wanted[kWidth];
    store_lanes(b_, b);
    hn::Store(hn::IfThenElseZero(wanted, floats(1)), DF(), is_wanted);
    for (std::ptrdiff_t l = first_; l < end_; ++l) {
      if (is_wanted[l] != 0) look(l, b[l]);
    }
  }

  // The decays of a row from b.
  HWY_INLINE void look(std::ptrdiff_t l, double at) {
    const D d;
    const Lane<T>& row = rows_[static_cast<std::size_t>(l)];
    const V zero = hn::Zero(d), b = hn::Set(d, at), sign = hn::Set(d, row.sign);
    const V rate = hn::Set(d, kLog2e / row.alpha);
    const T padding = Element<T>::round(row.sign * std::numeric_limits<double>::infinity());
    double* const e_at = decays_of(l);
    const T* const to = row.p;  // comes near while there is something else to do
    V count = zero, left_most = zero, right_most = zero;
    BlockedSum left, right;
    const auto add_up = [&](const T* from, std::ptrdiff_t i) HWY_ATTR {
      const V octaves = hn::Mul(hn::NegMulAdd(load_wide(d, from), sign, b), rate);
      const Decay<T, 1> half;
      const V e = half(d, hn::Min(hn::Abs(octaves), hn::Set(d, half.kZero)));
      const auto is_left = hn::Ge(octaves, zero);
      count = add_if(is_left, count, hn::Set(d, 1.0));
      left.part = add_if(is_left, left.part, e);
      right.part = add_if(hn::Not(is_left), right.part, e);
      left.count();
      right.count();
      left_most = max_if(is_left, left_most, e);
      right_most = max_if(hn::Not(is_left), right_most, e);
      hn::StoreU(marked(is_left, e), d, e_at + i);
      if (to) expect_write(to + i);
    };
    for_each_vector(row.x, n_, padding, add_up,
                    [&](const T* from, std::ptrdiff_t i, std::ptrdiff_t)
                        HWY_ATTR { add_up(from, i); });
    seen_.count[l] = sum_of(count);
    seen_.left[l] = left.total();
    seen_.right[l] = right.total();
    seen_.left_most[l] = hn::GetLane(hn::MaxOfLanes(d, left_most));
    seen_.right_most[l] = hn::GetLane(hn::MaxOfLanes(d, right_most));
  }

  // Sets how far the roots are, in units of alpha; returns how far they may be to be met by the
  // decays.
  HWY_INLINE VF find_step() {
    const D d;
    const Wide count = load_lanes(seen_.count);
    const Wide all_left = load_lanes(seen_.left), all_right = load_lanes(seen_.right);
    ratio_ = wide([&](std::ptrdiff_t h) HWY_ATTR {
      const V left = all_left.half[h], right = all_right.half[h];
      const V excess = hn::Mul(hn::Set(d, 0.5), hn::Sub(k_.half[h], count.half[h]));
      // Squares underflow: a whole k has m = mean, and beside others nothing is lost.
      const V mean = hn::Mul(hn::Sqrt(left), hn::Sqrt(right));
      const V m = hn::IfThenElse(hn::Eq(excess, hn::Zero(d)), mean,
                                 hn::Sqrt(hn::MulAdd(excess, excess, hn::Mul(mean, mean))));
      const V sum = hn::Add(m, hn::Abs(excess));
      const auto up = hn::Gt(excess, hn::Zero(d));
      return hn::Div(hn::IfThenElse(up, sum, left), hn::IfThenElse(up, right, sum));
    });
    step_ = wide([&](std::ptrdiff_t h) HWY_ATTR { return hn::Log(d, ratio_.half[h]); });
    const Wide left_most = load_lanes(seen_.left_most), right_most = load_lanes(seen_.right_most);
    return narrowed(wide([&](std::ptrdiff_t h) HWY_ATTR {
      const V most = hn::Set(d, 0.5 * (1 + kSmall));
      const V ratio = ratio_.half[h];
      const auto stay = hn::And(hn::Le(left_most.half[h], hn::Mul(most, ratio)),
                                hn::Le(hn::Mul(right_most.half[h], ratio), most));
      return hn::IfThenElse(stay, hn::Set(d, 1.0), hn::Set(d, kSmall));
    }));
  }

  HWY_INLINE void write(const double* e_at, double ratio, T* p) const {
    const D d;
    const V on_right = hn::Set(d, ratio), on_left = hn::Set(d, 1 / ratio);
    const auto mask = [=](std::ptrdiff_t i) HWY_ATTR {
      const V e = hn::LoadU(d, e_at + i);
      const auto is_left = is_marked(e);
      const V begin = hn::IfThenElseZero(is_left, hn::Set(d, 1.0));
      const V v = hn::MulAdd(e, hn::IfThenElse(is_left, on_left, on_right), begin);
      if constexpr (kIsDouble<T>) return v;
      // Denormal floats are slow and of no use.
      return hn::IfThenElseZero(hn::Ge(v, hn::Set(d, 0x1p-125)), v);
    };
    std::ptrdiff_t i = 0;
    for (; i + kHalf <= n_; i += kHalf) store_narrow(d, mask(i), p + i);
    if (i == n_) return;
    T last[kHalf];
    store_narrow(d, mask(i), last);
    std::copy_n(last, n_ - i, p + i);
  }

  std::span<Lane<T>> rows_;
  std::ptrdiff_t n_, stride_, group_, first_, end_;
  double* e_;
  Wide k_, alpha_, b_, step_, ratio_;
  MF wanted_, solved_;
  Totals seen_;
};

std::ptrdiff_t lane_rows_all() { return kWidth > 1 ? kWidth : 0; }

template <class T>
HWY_INLINE void solve_lanes_in(std::span<Lane<T>> rows, std::ptrdiff_t n, Arena& arena,
                               Layout layout) {
  for_each_layout(rows, n, layout,
                  [&]<bool kTile>(Entries<kTile> entries, std::span<Lane<T>> part) HWY_ATTR {
                    const Arena::Scope scope(arena);
                    LaneSearch search(entries, std::span<const Lane<T>>(part), n, arena);
                    search.run();
                    MF left = search.wanted();
                    if constexpr (kHasTable && !kIsDouble<T>) {
                      const auto take_step = [&](auto step) HWY_ATTR {
                        step.write(part, arena);
                        left = hn::AndNot(step.solved(), left);
                      };
                      if (hn::AllFalse(DF(), search.gaps())) {
                        take_step(LaneStep<kTile, false>(entries, search));
                      } else {
                        take_step(LaneStep<kTile, true>(entries, search));
                      }
                    }
                    if (!hn::AllFalse(DF(), left)) {
                      LaneSolve<T> solve(part, n, search, left, arena);
                      solve.run();
                    }
                    search.tell_ends(part);
                  });
}

#define LAPSUM_LANES_OF(T)                                                                 \
  void solve_##T(std::span<Lane<T>> rows, std::ptrdiff_t n, Arena& arena, Layout layout) { \
    solve_lanes_in(rows, n, arena, layout);                                                \
  }
LAPSUM_LANES_OF(float)
LAPSUM_LANES_OF(double)
LAPSUM_LANES_OF(Half)
LAPSUM_LANES_OF(Bfloat16)
#undef LAPSUM_LANES_OF

}  // namespace lapsum::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lapsum::cpu {
HWY_EXPORT(lane_rows_all);

std::ptrdiff_t lane_rows() { return HWY_DYNAMIC_DISPATCH(lane_rows_all)(); }

#define LAPSUM_LANES_OF(T)                                                                   \
  HWY_EXPORT(solve_##T);                                                                     \
  template <>                                                                                \
  void solve_lanes(std::span<Lane<T>> rows, std::ptrdiff_t n, Arena& arena, Layout layout) { \
    HWY_DYNAMIC_DISPATCH(solve_##T)(rows, n, arena, layout);                                 \
  }
LAPSUM_LANES_OF(float)
LAPSUM_LANES_OF(double)
LAPSUM_LANES_OF(Half)
LAPSUM_LANES_OF(Bfloat16)
#undef LAPSUM_LANES_OF

}  // namespace lapsum::cpu
#endif  // HWY_ONCE
