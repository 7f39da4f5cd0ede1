// Highway compiles everything inside HWY_NAMESPACE once per instruction set.
#include "cpu/primitives/lanes.h"

#include <limits>

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

// Exact steps, from where the search has come: at b the decayed sums of both sides and the count
// give the root as if no value lay between, as math::solve_interval does. If none does, or the step
// is so small that they do not count, the decays at the root are those at b times a ratio.
template <bool kTile, class T>
class LaneSolve {
  using Number = Work<T>;
  static constexpr double kSmall = kIsDouble<T> ? 1e-8 : kSmallStep;
  static constexpr double kMost = 0.5 * (1 + kSmall);

 public:
  LaneSolve(Entries<kTile> entries, const LaneSearch<kTile, T>& found, MF wanted, Arena& arena)
      : entries_(entries),
        r_(found.values()),
        e_(entries.template room<double>(arena)),
        k_(found.k()),
        alpha_(found.alpha()),
        b_(add(found.anchor(), found.offset())),
        wanted_(wanted) {}

  HWY_INLINE void run() {
    constexpr int kMostSteps = 4;
    for (int steps = 1;; ++steps) {
      const VF reach = find_step();
      const VF size = hn::Abs(narrowed(step_));
      const MF near = hn::Le(size, reach);
      solved_ = hn::And(wanted_, near);
      const MF going = hn::AndNot(near, hn::And(wanted_, hn::Lt(size, floats(1e30))));
      if (steps == kMostSteps || hn::AllFalse(DF(), going)) return;
      b_ = choose(going, add(b_, mul(alpha_, step_)), b_);
    }
  }

  HWY_INLINE void write(std::span<Lane<T>> rows, Arena& arena) const {
    T* to[kWidth];
    if (!tell(rows, solved_, b_, mul(alpha_, step_), to)) return;
    const D d;
    const Wide on_right = ratio_;
    const Wide on_left =
        wide([&](std::ptrdiff_t h) HWY_ATTR { return hn::Div(hn::Set(d, 1.0), ratio_.half[h]); });
    const double* const e_at = e_;
    const auto mask = [&](std::ptrdiff_t at, std::ptrdiff_t h) HWY_ATTR {
      const V e = hn::LoadU(d, e_at + at);
      const auto is_left = is_marked(e);
      const V ratio = hn::IfThenElse(is_left, on_left.half[h], on_right.half[h]);
      return hn::MulAdd(e, ratio, hn::IfThenElseZero(is_left, hn::Set(d, 1.0)));
    };
    const auto value = [&](std::ptrdiff_t at, std::ptrdiff_t lane) HWY_ATTR {
      if constexpr (kIsDouble<T>) {
        return mask(at, lane / kHalf);
      } else {
        return narrowed(wide([&](std::ptrdiff_t h) HWY_ATTR {
          const V p = mask(at + h * kHalf, h);
          // Denormal floats are slow and of no use.
          return hn::IfThenElseZero(hn::Ge(p, hn::Set(d, 0x1p-125)), p);
        }));
      }
    };
    entries_.bring_home(value, std::span<T* const>(to, rows.size()), arena);
  }

 private:
  // Decays of values to the left bear a sign, even if they are zero.
  static HWY_INLINE V marked(Lanes is_left, V e) { return hn::IfThenElse(is_left, hn::Neg(e), e); }
  static HWY_INLINE Lanes is_marked(V e) {
    const hn::RebindToSigned<D> di;
    return hn::RebindMask(D(), hn::Lt(hn::BitCast(di, e), hn::Zero(di)));
  }

  // Sets how far the root is, in units of alpha, and the decays from here; returns how far it may
  // be to be met by them.
  HWY_INLINE VF find_step() {
    const D d;
    const Number* const r_at = r_;
    double* const e_at = e_;
    const Wide rate = wide([&](std::ptrdiff_t h)
                               HWY_ATTR { return hn::Div(hn::Set(d, kLog2e), alpha_.half[h]); });
    const Wide start =
        wide([&](std::ptrdiff_t h) HWY_ATTR { return hn::Mul(b_.half[h], rate.half[h]); });
    Wide left_most = wide([](std::ptrdiff_t) HWY_ATTR { return hn::Zero(D()); });
    Wide right_most = left_most;
    const auto s =
        entries_.template add_up<Sums<0, 3>>([&](Sums<0, 3>& sums, std::ptrdiff_t at) HWY_ATTR {
          for (std::ptrdiff_t h = 0; h < kHalves; ++h) {
            const V r = load_wide(d, r_at + at + h * kHalf);
            // Of float rows the products are exact enough; else the differences are.
            const V octaves = kIsDouble<T> ? hn::Mul(hn::Sub(b_.half[h], r), rate.half[h])
                                           : hn::NegMulAdd(r, rate.half[h], start.half[h]);
            const Decay<T, 1> half;
            const V e = half(d, hn::Min(hn::Abs(octaves), hn::Set(d, half.kZero)));
            const auto is_left = hn::Ge(octaves, hn::Zero(d));
            V(&count)[kHalves] = sums.wide_sum[0].half;
            V(&left)[kHalves] = sums.wide_sum[1].half;
            V(&right)[kHalves] = sums.wide_sum[2].half;
            count[h] = add_if(is_left, count[h], hn::Set(d, 1.0));
            left[h] = add_if(is_left, left[h], e);
            right[h] = add_if(hn::Not(is_left), right[h], e);
            if constexpr (kIsDouble<T>) {
              V(&nearest_left)[kHalves] = left_most.half;
              V(&nearest_right)[kHalves] = right_most.half;
              nearest_left[h] = max_if(is_left, nearest_left[h], e);
              nearest_right[h] = max_if(hn::Not(is_left), nearest_right[h], e);
            }
            hn::StoreU(marked(is_left, e), d, e_at + at + h * kHalf);
          }
        });
    left_most = entries_.largest(left_most);
    right_most = entries_.largest(right_most);
    ratio_ = wide([&](std::ptrdiff_t h) HWY_ATTR {
      const V left = s.wide_sum[1].half[h], right = s.wide_sum[2].half[h];
      const V excess = hn::Mul(hn::Set(d, 0.5), hn::Sub(k_.half[h], s.wide_sum[0].half[h]));
      // Squares underflow: a whole k has m = mean, and beside others nothing is lost.
      const V mean = hn::Mul(hn::Sqrt(left), hn::Sqrt(right));
      const V m = hn::IfThenElse(hn::Eq(excess, hn::Zero(d)), mean,
                                 hn::Sqrt(hn::MulAdd(excess, excess, hn::Mul(mean, mean))));
      const V sum = hn::Add(m, hn::Abs(excess));
      const auto up = hn::Gt(excess, hn::Zero(d));
      return hn::Div(hn::IfThenElse(up, sum, left), hn::IfThenElse(up, right, sum));
    });
    step_ = wide([&](std::ptrdiff_t h) HWY_ATTR {
      const V step = hn::Log(d, ratio_.half[h]);
      if constexpr (kIsDouble<T>) return step;
      // Beyond, their fractions are not good to 2^-29.
      const auto in_range = hn::Le(hn::Abs(start.half[h]), hn::Set(d, 0x1p24));
      const V never = hn::Set(d, std::numeric_limits<double>::infinity());
      return hn::IfThenElse(in_range, step, never);
    });
    if constexpr (!kIsDouble<T>) return floats(kSmall);
    return narrowed(wide([&](std::ptrdiff_t h) HWY_ATTR {
      const V most = hn::Set(d, kMost);
      const V ratio = ratio_.half[h];
      const auto stay = hn::And(hn::Le(left_most.half[h], hn::Mul(most, ratio)),
                                hn::Le(hn::Mul(right_most.half[h], ratio), most));
      return hn::IfThenElse(stay, hn::Set(d, 1.0), hn::Set(d, kSmall));
    }));
  }

  Entries<kTile> entries_;
  const Number* r_;
  double* e_;
  Wide k_, alpha_, b_, step_, ratio_;
  MF wanted_, solved_;
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
                      LaneSolve solve(entries, search, left, arena);
                      solve.run();
                      solve.write(part, arena);
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
