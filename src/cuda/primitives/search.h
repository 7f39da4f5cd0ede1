// The search for one threshold, one sweep over the row at a time: what to sweep for, and what to
// make of the result. The ends of the bracket are elements, and all that lies beyond them is two
// decayed sums; a sweep splits the rest between two neighbouring elements, where LapSum(b) = k is
// solved in closed form, or the root seen to lie on one side. For host and device.
#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>

#include "cuda/primitives/rate.h"
#include "lapsum/rows.h"
#include "math/interval.h"

namespace lapsum::gpu {

/// What a sweep finds. The first one counts NaN and infinities (left, right) and sums two moments;
/// the others split the values of the bracket, with the decayed sums of both parts at their
/// anchors.
struct Swept {
  std::int64_t nan, left, right;
  double left_sum, right_sum;
  double below, above;  ///< the greatest value on the left, the least on the right

  LAPSUM_HOST_DEVICE static Swept nothing() { return {0, 0, 0, 0, 0, -INFINITY, INFINITY}; }
  LAPSUM_HOST_DEVICE Swept& operator+=(const Swept& other) {
    nan += other.nan;
    left += other.left;
    right += other.right;
    left_sum += other.left_sum;
    right_sum += other.right_sum;
    below = std::fmax(below, other.below);
    above = std::fmin(above, other.above);
    return *this;
  }
};

/// Trivial to construct and to copy, so that it may live in shared memory.
class Search {
 public:
  /// Level k of a row of n values; `origin` is any one of them. alpha > 0.
  LAPSUM_HOST_DEVICE static Search start(double k, double alpha, double n, double origin) {
    Search s;
    s.k_ = k;
    s.rate_ = Rate::of(alpha);
    s.n_ = n;
    s.split_ = std::abs(origin) < INFINITY ? origin : 0;
    s.stage_ = Stage::first;
    return s;
  }

  LAPSUM_HOST_DEVICE bool done() const { return stage_ == Stage::done; }
  /// As cpu::solve_thresholds gives it.
  LAPSUM_HOST_DEVICE Threshold result() const { return {anchor_, offset_}; }

  /// Adds the value r to what a sweep finds.
  LAPSUM_HOST_DEVICE void see(double r, Swept& swept) const {
    if (stage_ == Stage::first) return look(r, swept);
    if (!(r >= low_ && r <= high_)) return;
    if (r <= split_) {
      ++swept.left;
      swept.left_sum += rate_.decay(left_anchor_ - r);
      swept.below = std::fmax(swept.below, r);
    } else {
      ++swept.right;
      swept.right_sum += rate_.decay(r - right_anchor_);
      swept.above = std::fmin(swept.above, r);
    }
  }

  /// Takes what a whole sweep has found, and prepares the next one.
  LAPSUM_HOST_DEVICE void take(const Swept& swept) {
    if (stage_ == Stage::first) return begin(swept);
    if (!narrow(swept)) {
      stage_ = Stage::anchored;
      left_anchor_ = swept.below;
      right_anchor_ = swept.above;
    }
  }

 private:
  enum class Stage { first, split, anchored, done };
  enum class Guess { secant, key_secant, middle };

  // Sums can be moved over this many alphas without loss, and before they underflow.
  static constexpr double kExact = 1;
  static constexpr double kUseful = 600;

  // An element at the end of the bracket; the root lies on the inner side of it, if that is
  // `known`. `beyond` is the decayed sum of the elements beyond it, seen from `from`, which lies
  // beyond too; `outer` and `inner` those of elements beyond it and of all others, seen from
  // itself; `count` the number of elements left of the gap next to it, and `value` LapSum - k.
  struct End {
    double at, from, beyond, outer, inner, count, value;
    bool known;
  };

  LAPSUM_HOST_DEVICE double decayed(double sum, double distance) const {
    return sum > 0 ? sum * rate_.decay(distance) : 0;
  }

  LAPSUM_HOST_DEVICE void look(double r, Swept& swept) const {
    if (r != r) {
      ++swept.nan;
    } else if (std::abs(r) == INFINITY) {
      ++(r < 0 ? swept.left : swept.right);
    } else {
      const double moved = r - split_;
      swept.left_sum += moved;
      swept.right_sum += moved * moved;
      swept.below = std::fmax(swept.below, r);
      swept.above = std::fmin(swept.above, r);
    }
  }

  LAPSUM_HOST_DEVICE void finish(double anchor, double offset) {
    anchor_ = anchor;
    offset_ = offset;
    stage_ = Stage::done;
  }

  LAPSUM_HOST_DEVICE void begin(const Swept& seen) {
    const auto below = static_cast<double>(seen.left);
    const double finite = n_ - static_cast<double>(seen.nan + seen.left + seen.right);
    if (seen.nan > 0 || k_ != k_) return finish(NAN, 0);
    if (k_ <= below) return finish(-INFINITY, k_ > 0 ? k_ / below : 0);
    if (k_ >= below + finite) return finish(INFINITY, 0);
    lo_ = {seen.above, 0, 0, 0, 0, below, below - k_, false};
    hi_ = {seen.below, 0, 0, 0, 0, below + finite, below + finite - k_, false};
    last_ = 0;
    misses_ = 0;
    guess_ = Guess::secant;
    inside_ = finite;
    step_ = INFINITY;
    // The logistic distribution of the same moments.
    const double mean = seen.left_sum / finite;
    const double variance = seen.right_sum / finite - mean * mean;
    const double width = std::sqrt(std::fmax(variance, 0) + 2 * rate_.alpha * rate_.alpha) / 1.7;
    const double v = split_ + mean + width * std::log((k_ - below) / (below + finite - k_));
    const double range = hi_.at - lo_.at;
    const bool credible = (v > lo_.at && v < hi_.at) || range < 4 * rate_.alpha;
    aim(credible ? v : lo_.at + range * ((k_ - below) / finite));
  }

  // How far the elements next to the split lie from where the sums were taken, in alphas.
  LAPSUM_HOST_DEVICE double distance(const Swept& swept) const {
    const double left = swept.left > 0 ? left_anchor_ - swept.below : 0;
    const double right = swept.right > 0 ? swept.above - right_anchor_ : 0;
    return rate_(std::fmax(left, right));
  }

  LAPSUM_HOST_DEVICE Threshold solve(const math::Interval& at, double excess) const {
    return math::solve_interval(at, excess, rate_.alpha).b;
  }

  // False if the sums must be taken again, at the elements next to the split.
  LAPSUM_HOST_DEVICE bool narrow(const Swept& swept) {
    const auto [nan, left, right, left_swept, right_swept, below, above] = swept;
    const double far = distance(swept);
    if (!(far <= kUseful)) return false;
    const double left_beyond = left_swept + decayed(lo_.beyond, left_anchor_ - lo_.from);
    const double right_beyond = right_swept + decayed(hi_.beyond, hi_.from - right_anchor_);
    const double left_sum = decayed(left_beyond, below - left_anchor_);
    const double right_sum = decayed(right_beyond, right_anchor_ - above);
    const double count = lo_.count + static_cast<double>(left);
    const double excess = k_ - count;
    const double gap = left > 0 && right > 0 ? rate_.decay(above - below) : 0;
    const double at_below = 0.5 * (right_sum * gap - left_sum) - excess;
    const double at_above = 0.5 * (right_sum - left_sum * gap) - excess;
    // What was known of an end stays so, even if rounding says otherwise.
    if (left > 0 && at_below > 0 && !(lo_.known && below == lo_.at)) {
      if (below == lo_.at) lo_ = {-INFINITY, 0, 0, 0, 0, lo_.count, 0, true};
      hi_ = {below, right_anchor_, right_beyond, right_sum * gap, left_sum, count, at_below, true};
      if (last_ > 0) lo_.value *= 0.5;
      last_ = 1;
      propose(static_cast<double>(left));
    } else if (right > 0 && at_above < 0 && !(hi_.known && above == hi_.at)) {
      if (above == hi_.at) hi_ = {INFINITY, 0, 0, 0, 0, hi_.count, 0, true};
      lo_ = {above, left_anchor_, left_beyond, left_sum * gap, right_sum, count, at_above, true};
      if (last_ < 0) hi_.value *= 0.5;
      last_ = -1;
      propose(static_cast<double>(right));
    } else {
      if (far > kExact) return false;
      const Threshold b = solve({below, left_sum, above, right_sum}, excess);
      finish(b.anchor, b.offset);
    }
    return true;
  }

  // The way from an end to the root, if no element lay between them: never more than the true one.
  LAPSUM_HOST_DEVICE double extrapolate(const End& end, double left_sum, double right_sum) const {
    return solve({0, left_sum, 0, right_sum}, k_ - end.count).offset;
  }

  LAPSUM_HOST_DEVICE void propose(double inside) {
    double from = lo_.at, to = hi_.at, steps_up = INFINITY, steps_down = INFINITY;
    if (lo_.known && lo_.at > -INFINITY) {
      const double way = std::fmax(extrapolate(lo_, lo_.outer, lo_.inner), 0);
      from += way;
      steps_up = rate_(way);
    }
    if (hi_.known && hi_.at < INFINITY) {
      const double way = std::fmin(extrapolate(hi_, hi_.inner, hi_.outer), 0);
      to += way;
      steps_down = rate_(-way);
    }
    const double step = std::fmin(steps_up, steps_down);
    if (step <= 1 && step < 0.5 * step_) {
      step_ = step;
      return aim(steps_up < steps_down ? from : to);
    }
    step_ = INFINITY;
    misses_ = inside > 0.5 * inside_ ? misses_ + 1 : 0;
    inside_ = inside;
    if (misses_ > (guess_ == Guess::middle ? 0 : 1)) {
      guess_ = static_cast<Guess>((static_cast<int>(guess_) + 1) % 3);
      misses_ = 0;
    }
    const double share =
        guess_ == Guess::middle ? 0.5 : spread(lo_.value / (lo_.value - hi_.value));
    if (guess_ == Guess::secant) {
      aim(from + (to - from) * share);
    } else {
      const std::int64_t base = key(from);
      const double distance = static_cast<double>(key(to)) - static_cast<double>(base);
      aim(from_key(base + static_cast<std::int64_t>(share * distance)));
    }
  }

  // A share of the bracket: a little farther from the nearer end, so that the other one moves.
  LAPSUM_HOST_DEVICE double spread(double share) const {
    const double more = 1.5 * std::sqrt(share * (1 - share) / inside_);
    return share < 0.5 ? std::fmin(share + more, 0.5) : std::fmax(share - more, 0.5);
  }

  // Splits next at v, or as near to it as leaves values on both sides; beyond an end that is not
  // known to be one all of them.
  LAPSUM_HOST_DEVICE void aim(double v) {
    if (!(v > lo_.at)) v = lo_.known ? lo_.at : -INFINITY;
    if (!(v < hi_.at)) v = hi_.known ? std::nextafter(hi_.at, -INFINITY) : hi_.at;
    low_ = std::fmax(lo_.at, -DBL_MAX);
    high_ = std::fmin(hi_.at, DBL_MAX);
    split_ = left_anchor_ = right_anchor_ = v;
    stage_ = Stage::split;
  }

  // Integers in the order of the doubles.
  LAPSUM_HOST_DEVICE static std::int64_t key(double v) {
    const auto bits = std::bit_cast<std::int64_t>(v);
    return bits < 0 ? INT64_MIN - bits : bits;
  }
  LAPSUM_HOST_DEVICE static double from_key(std::int64_t key) {
    return std::bit_cast<double>(key < 0 ? INT64_MIN - key : key);
  }

  double k_, n_;
  Rate rate_;
  End lo_, hi_;
  double inside_, step_;  // values and Newton step of the last proposal
  double low_, high_, split_, left_anchor_, right_anchor_;
  double anchor_, offset_;  // of the result
  Stage stage_;
  Guess guess_;
  int misses_;
  int last_;  // the end that moved last: -1 or 1
};

}  // namespace lapsum::gpu
