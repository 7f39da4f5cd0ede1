// Selection on LapSum itself. Rough looks at the row, or where they do not settle a sample, solved
// at two levels around the wanted one, give a bracket; one pass turns all that lies outside of it
// into two decayed sums; the few values inside go on. A bracket that misses its root is noticed at
// the end, and left on the side of its root.
#include "cpu/primitives/threshold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cpu/primitives/bracket.h"
#include "cpu/primitives/few.h"
#include "cpu/primitives/glance.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/row.h"
#include "instantiate.h"
#include "math/interval.h"
#include "math/normal.h"

namespace lapsum::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// What surrounds the values in question: the decayed sums at the nearest elements left behind, and
// how many lie to the left.
struct Around {
  math::Interval at{-kInf, 0, kInf, 0};
  double left_count = 0;

  Around scaled(double ratio) const {
    return {{at.left_nearest, at.left_sum * ratio, at.right_nearest, at.right_sum * ratio},
            left_count * ratio};
  }
};

// Where a level is met: no value lies inside `around`. If `side` is not 0, it is met elsewhere: to
// the left (-1) or to the right (1) of all that was looked at.
struct Place {
  Around around;
  int side = 0;
  bool nan = false;

  static Place unknown() { return {{}, 0, true}; }
};

// How many passes a search may take before it sorts.
constexpr int kPasses = 16;

// LapSum at the end of a bracket may be off by its rounding; a root so near to the end is found
// from either side of it.
constexpr double kSlack = 1e-8;

// Values in order, with LapSum at each of them.
class Sorted {
 public:
  template <class Number>
  Sorted(std::span<const Number> values, const Around& around, double alpha, Arena& arena)
      : around_(around) {
    std::span<double> r = arena.take<double>(std::ssize(values));
    nan_ = std::any_of(values.begin(), values.end(), [](Number v) { return v != v; });
    if (nan_) return;
    if (std::ssize(values) <= kSmallSort) {
      small_sort(values.data(), std::ssize(values), r.data());
    } else {
      std::copy(values.begin(), values.end(), r.begin());
      std::sort(r.begin(), r.end());
    }
    for (; !r.empty() && r.front() == -kInf; r = r.subspan(1)) ++around_.left_count;
    while (!r.empty() && r.back() == kInf) r = r.first(r.size() - 1);
    r_ = r;
    left_ = arena.take<double>(std::ssize(r) + 1);
    right_ = arena.take<double>(std::ssize(r) + 1);
    scan_sums(r.data(), std::ssize(r), around_.at, alpha, left_.data(), right_.data());
  }

  Place place(double k) const {
    if (nan_) return Place::unknown();
    const std::size_t n = r_.size();
    const math::Interval& at = around_.at;
    const double excess = k - around_.left_count;
    // LapSum(value j) = j + 1/2 + (right - left) / 2; the counts are subtracted first, exactly.
    const auto is_below = [&](std::size_t j) {
      return excess - static_cast<double>(j) - 0.5 > 0.5 * (right_[j + 1] - left_[j]);
    };
    std::size_t first = 0;
    for (std::size_t end = n; first < end;) {
      const std::size_t middle = (first + end) / 2;
      if (is_below(middle)) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    Place out{{at, around_.left_count + static_cast<double>(first)}};
    if (first > 0) {
      out.around.at.left_nearest = r_[first - 1];
      out.around.at.left_sum = left_[first - 1] + 1;
    } else if (at.left_sum > 0) {
      const double slack = kSlack * (right_[0] + at.left_sum);
      if (excess < 0.5 * (right_[0] - at.left_sum) - slack) out.side = -1;
    }
    if (first < n) {
      out.around.at.right_nearest = r_[first];
      out.around.at.right_sum = right_[first + 1] + 1;
    } else if (at.right_sum > 0) {
      const double slack = kSlack * (at.right_sum + left_[n]);
      if (excess - static_cast<double>(n) > 0.5 * (at.right_sum - left_[n]) + slack) out.side = 1;
    }
    return out;
  }

 private:
  Around around_;
  std::span<const double> r_;
  std::span<double> left_, right_;
  bool nan_ = false;
};

template <class T>
class Search {
  using Number = Work<T>;
  static constexpr std::ptrdiff_t kBase = 24;

 public:
  Search(double alpha, Arena& arena, int threads)
      : alpha_(alpha), arena_(arena), threads_(threads) {}

  // The place of level k on r = sign * x. After `budget` passes what remains is sorted.
  Place find(const T* x, std::ptrdiff_t n, Number sign, const Around& around, double k, int budget,
             bool aimed = true) {
    if (n <= kBase || budget == 0 || !is_plain(alpha_)) {
      return sorted(x, n, sign, around).place(k);
    }
    std::optional<Bracket> bracket = aimed ? aim(x, n, sign, around, k) : std::nullopt;
    if (!bracket) bracket = choose(x, n, sign, around, k, budget);
    if (!bracket) return Place::unknown();
    const double lo = bracket->lo, hi = bracket->hi;
    const Place place = enter(x, n, sign, around, k, *bracket, budget - 1, aimed);
    if (place.side < 0 && lo > around.at.left_nearest && lo < hi) {
      return enter(x, n, sign, around, k, {around.at.left_nearest, lo, lo}, budget - 1, false);
    }
    if (place.side > 0 && hi < around.at.right_nearest && lo < hi) {
      return enter(x, n, sign, around, k, {hi, around.at.right_nearest, hi}, budget - 1, false);
    }
    return place;
  }

  // body(t, place) for the levels k, all inside (0, n): the first pass is one for all of them, if a
  // bracket around the lowest and the highest leaves little.
  template <class Body>
  void find_each(const T* x, std::ptrdiff_t n, Number sign, std::span<const double> k, int budget,
                 Body&& body) {
    const auto alone = [&](std::size_t t) {
      const Arena::Scope scope(arena_);
      body(t, find(x, n, sign, {}, k[t], budget));
    };
    const Arena::Scope scope(arena_);
    std::span<T> inside;
    const std::optional<Around> around = enter_together(x, n, sign, k, budget, inside);
    for (std::size_t t = 0; t < k.size(); ++t) {
      if (!around) {
        alone(t);
        continue;
      }
      const Arena::Scope inner(arena_);
      const Place place = find(inside.data(), std::ssize(inside), 1, *around, k[t], budget - 1);
      if (place.side == 0) {
        body(t, place);
      } else {
        alone(t);
      }
    }
  }

  // A bracket around the root of a rough LapSum, found by secants; none if they do not settle. A
  // sample comes first, then, for the last step, one of kMore times as many values. Where a sample
  // has no value on one side of the root, the bracket has no end there, and secants go to the other.
  std::optional<Bracket> aim(const T* x, std::ptrdiff_t n, Number sign, const Around& around,
                             double k) {
    constexpr double kReach = 1e30;
    constexpr std::ptrdiff_t kMore = 8;
    constexpr double kDoubt = 0.25;
    if (!(alpha_ > 1 / kReach && alpha_ < kReach)) return std::nullopt;
    std::ptrdiff_t step = std::max<std::ptrdiff_t>(1, n / sample_size(n));
    const bool between = around.at.left_sum > 0 && around.at.right_sum > 0;
    const bool whole = around.at.left_sum + around.at.right_sum == 0;
    const double gap = around.at.right_nearest - around.at.left_nearest;
    // Between two ends an even distribution is as good a guess as any.
    const Summary moments =
        between && step == 1
            ? Summary{double(n), around.at.left_nearest + 0.5 * gap, gap * gap / 12}
            : glance_moments(x, n, step, sign);
    if (!(moments.variance < kReach)) return std::nullopt;
    double m = moments.count;
    Around seen = around.scaled(m / static_cast<double>(n));
    double level = k * (m / static_cast<double>(n));
    const auto part_of = [&](double g) {
      return std::clamp((g - seen.left_count) / m, 0.5 / m, 1 - 0.5 / m);
    };
    const double share = part_of(level);
    const auto margin_at = [&](double slope) {
      if (step == 1) return 2 * growth(m, moments.variance, slope);
      return margin(m, between ? 0.5 : share, moments.variance, slope);
    };
    // Otherwise as if the values had a normal distribution, for slopes a logistic one.
    const double width = between ? gap : std::sqrt(moments.variance + 2 * alpha_ * alpha_) / 1.7;
    double slope = m / width * (between ? 1 : share * (1 - share));
    double wanted = level;
    int open = 0;  // where the bracket has no end
    if (whole && step > 1) {
      const double reach = margin_at(slope), inner = level - seen.left_count;
      open = inner < reach ? -1 : inner > m - reach ? 1 : 0;
      wanted = level - 1.5 * open * reach;
    }
    const double start = part_of(wanted);
    if (open != 0) slope = m / width * start * (1 - start);
    double v = between ? around.at.left_nearest + 0.5 * gap
                       : moments.mean + 1.7 * width * math::normal_quantile(start);
    double lower = -kReach, upper = kReach;
    double last_v = 0, last_g = 0;
    bool more = false, moved = false;
    for (int probe = 0; probe < 7; ++probe) {
      const Glance glance = glance_at(x, n, step, sign, v, alpha_);
      const math::Interval& at = seen.at;
      const double left = glance.left_sum + decayed(at.left_sum, v - at.left_nearest);
      const double right = glance.right_sum + decayed(at.right_sum, at.right_nearest - v);
      const double g = seen.left_count + glance.left_count + 0.5 * (right - left);
      const double off = wanted - g;
      if (!(std::abs(off) < kReach)) return std::nullopt;
      const double secant = (g - last_g) / (v - last_v);
      if (left + right > 8) {
        slope = (left + right) / (2 * alpha_);
      } else if (moved && secant > 0 && secant < kReach) {
        slope = secant;
      }
      const double noise = 1e-4 * std::abs(right - left) + 1e-6 * m;
      const double allowed = noise + margin_at(slope);
      if (std::abs(off) <= (more ? 2 : 0.5) * allowed) {
        if (open == 0 && !more && step >= kMore) {
          more = true;
          step /= kMore;
          const double grown = glance_count<T>(n, step) / m;
          m *= grown;
          level *= grown;
          wanted *= grown;
          slope *= grown;
          last_g *= grown;
          seen = around.scaled(m / static_cast<double>(n));
          continue;
        }
        // The slope between two probes is a rough one: the farther the root is, the less is known.
        const double reach = allowed + (left + right > 8 ? 0 : kDoubt * std::abs(off));
        const double low = open < 0 ? -kInf : open > 0 ? v : v + (off - reach) / slope;
        const double high = open > 0 ? kInf : open < 0 ? v : v + (off + reach) / slope;
        const Neighbours ends = glance_neighbours(x, n, step, sign, low, high);
        const auto quantile = [&](double lap_sum) {
          return math::normal_quantile((lap_sum - seen.left_count) / m);
        };
        const double root =
            open == 0 ? v + off / slope : v + 1.7 * width * (quantile(level) - quantile(g));
        const Bracket out{std::max(ends.below, at.left_nearest),
                          std::min(ends.above, at.right_nearest), root};
        if (out.lo == at.left_nearest && out.hi == at.right_nearest) return std::nullopt;
        return out;
      }
      (off > 0 ? lower : upper) = v;
      moved = true;
      last_v = v;
      last_g = g;
      v += off / slope;
      if (!(v > lower && v < upper)) v = 0.5 * (lower + upper);
    }
    return std::nullopt;
  }

 private:
  std::optional<Around> enter_together(const T* x, std::ptrdiff_t n, Number sign,
                                       std::span<const double> k, int budget,
                                       std::span<T>& inside) {
    if (k.size() < 2 || n <= kBase || !is_plain(alpha_)) return std::nullopt;
    const auto [lowest, highest] = std::minmax_element(k.begin(), k.end());
    const auto around = [&](double level) {
      const std::optional<Bracket> aimed = aim(x, n, sign, {}, level);
      return aimed ? aimed : choose(x, n, sign, {}, level, budget);
    };
    const std::optional<Bracket> low = around(*lowest);
    const std::optional<Bracket> high = around(*highest);
    if (!low || !high || !(low->lo < high->hi)) return std::nullopt;
    inside = arena_.take<T>(n);
    const Bracketed sides = pass(x, n, sign, low->lo, high->hi, inside);
    if (sides.inside > n / 2) return std::nullopt;
    inside = inside.first(static_cast<std::size_t>(sides.inside));
    return Around{{low->lo, sides.left_sum, high->hi, sides.right_sum},
                  static_cast<double>(sides.left)};
  }

  // Goes on with what lies inside of a bracket; or on one side of it, if it holds one value.
  Place enter(const T* x, std::ptrdiff_t n, Number sign, const Around& around, double k,
              const Bracket& bracket, int budget, bool aimed) {
    const double lo = bracket.lo, hi = bracket.hi;
    std::span<T> inside = arena_.take<T>(n);
    const Bracketed sides = pass(x, n, sign, lo, hi, inside);
    const math::Interval& at = around.at;
    const double left_sum = sides.left_sum + decayed(at.left_sum, lo - at.left_nearest);
    const double right_sum = sides.right_sum + decayed(at.right_sum, at.right_nearest - hi);
    const double left_count = around.left_count + static_cast<double>(sides.left);
    if (lo < hi) {
      return find(inside.data(), sides.inside, 1, {{lo, left_sum, hi, right_sum}, left_count}, k,
                  budget, aimed && sides.inside < n / 2);
    }
    if (sides.inside > 0) return Place::unknown();
    const bool beyond = k - left_count > 0.5 * (right_sum - left_sum);
    const std::ptrdiff_t kept =
        pass(x, n, sign, beyond ? lo : -kInf, beyond ? kInf : lo, inside).inside;
    if (beyond) {
      return find(inside.data(), kept, 1,
                  {{lo, left_sum, at.right_nearest, at.right_sum}, left_count}, k, budget);
    }
    const auto equal = static_cast<double>(sides.left - kept);
    return find(inside.data(), kept, 1,
                {{at.left_nearest, at.left_sum, lo, right_sum + equal}, around.left_count}, k,
                budget);
  }

  Sorted sorted(const T* x, std::ptrdiff_t n, Number sign, const Around& around) {
    std::span<Number> r = arena_.take<Number>(n);
    for (std::ptrdiff_t i = 0; i < n; ++i) r[i] = sign * to_work(x[i]);
    return Sorted(std::span<const Number>(r), around, alpha_, arena_);
  }

  double decayed(double sum, double distance) const {
    return sum > 0 ? sum * std::exp(-distance / alpha_) : 0;
  }

  // How much LapSum grows from one of m values to the next, at most: by 1, but by less if alpha is
  // wide against all of them.
  double growth(double m, double variance, double slope) const {
    if (variance > alpha_ * alpha_) return 1;
    return std::fmin(1, 4 * slope * std::sqrt(variance) / m);
  }

  // How far the level of a sample of m values may be off: F varies no more than between 0 and 1,
  // and no more than 1 / (2 alpha) times the values do; and one value more or less.
  double margin(double m, double share, double variance, double slope) const {
    const double spread = std::fmin(share * (1 - share), variance / (4 * alpha_ * alpha_));
    constexpr double kSigmas = 2.5;
    return kSigmas * std::sqrt(m * std::fmax(spread, 0)) + growth(m, variance, slope);
  }

  static std::ptrdiff_t sample_size(std::ptrdiff_t n) {
    if (n <= 2500) return 256;
    return static_cast<std::ptrdiff_t>(std::pow(static_cast<double>(n), 0.6));
  }

  // Two elements with the root between them, most likely; or one element, twice, if that would
  // leave too much. None: the sample holds NaN.
  std::optional<Bracket> choose(const T* x, std::ptrdiff_t n, Number sign, const Around& around,
                                double k, int budget) {
    const Arena::Scope scope(arena_);
    const std::ptrdiff_t m = n <= 2500 ? 48 : sample_size(n);
    std::span<T> sample = arena_.take<T>(m);
    for (std::ptrdiff_t i = 0; i < m; ++i) {
      sample[i] = Element<T>::round(sign * to_work(x[(2 * i + 1) * n / (2 * m)]));
    }
    const auto size = static_cast<double>(m);
    double first = 0, second = 0;
    for (const T v : sample) {
      const double moved = to_double(v) - to_double(sample[0]);
      first += moved / size;
      second += moved * moved / size;
    }
    const double variance = second - first * first;
    const double ratio = size / static_cast<double>(n);
    const bool whole = around.at.left_sum + around.at.right_sum == 0;
    const double share = whole ? std::clamp(k / static_cast<double>(n), 0.0, 1.0) : 0.5;
    const double level = k * ratio;
    const double margin = this->margin(size, share, variance, size / (2 * alpha_));
    Place lower, upper;
    if (m <= kSmallSort) {
      const Sorted values = sorted(sample.data(), m, 1, around.scaled(ratio));
      lower = values.place(level - margin);
      upper = values.place(level + margin);
    } else {
      lower = find(sample.data(), m, 1, around.scaled(ratio), level - margin, budget - 1);
      upper = find(sample.data(), m, 1, around.scaled(ratio), level + margin, budget - 1);
    }
    if (lower.nan || upper.nan) return std::nullopt;
    const double lo = lower.around.at.left_nearest;
    const double hi = upper.around.at.right_nearest;
    if (upper.around.left_count - lower.around.left_count <= 0.75 * size) {
      return Bracket{lo, hi, lo};
    }
    const double next = lower.around.at.right_nearest;
    return Bracket{next, next, next};
  }

  Bracketed pass(const T* x, std::ptrdiff_t n, double sign, double lo, double hi,
                 std::span<T> inside) {
    const Chunks chunks(n);
    if (chunks.count() <= 1) return bracket(x, n, sign, lo, hi, alpha_, inside.data());
    std::vector<Bracketed> parts(static_cast<std::size_t>(chunks.count()));
    for_each_chunk(n, threads_, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      parts[static_cast<std::size_t>(chunks.at(begin))] =
          bracket(x + begin, end - begin, sign, lo, hi, alpha_, inside.data() + begin);
    });
    Bracketed all;
    for (std::size_t c = 0; c < parts.size(); ++c) {
      std::copy_n(inside.begin() + chunks.begin(static_cast<std::ptrdiff_t>(c)), parts[c].inside,
                  inside.begin() + all.inside);
      all.left += parts[c].left;
      all.inside += parts[c].inside;
      all.left_sum += parts[c].left_sum;
      all.right_sum += parts[c].right_sum;
    }
    return all;
  }

  double alpha_;
  Arena& arena_;
  int threads_;
};

// What is left of the row if no finite value is the answer.
Threshold saturated(const NonFinite& counts, double k) {
  if (counts.nan > 0 || std::isnan(k)) return {kNaN, 0};
  const auto below = static_cast<double>(counts.below);
  if (k <= below) return {-kInf, k > 0 ? k / below : 0};
  return {kInf, 0};
}

// The threshold at a place; none if no finite value is.
std::optional<Threshold> root_at(const Place& place, double k, double alpha) {
  const math::Interval& ends = place.around.at;
  const double excess = k - place.around.left_count;
  if (excess >= 0 && ends.right_sum == 0) return std::nullopt;
  if (excess <= 0 && ends.left_sum == 0) return std::nullopt;
  return math::solve_interval(ends, excess, alpha).b;
}

}  // namespace

template <class T>
void solve_thresholds(const T* x, std::ptrdiff_t n, double sign, std::span<const double> k,
                      double alpha, std::span<Threshold> b, Arena& arena, int threads) {
  std::span<double> levels = arena.take<double>(std::ssize(k));
  std::span<std::size_t> at = arena.take<std::size_t>(std::ssize(k));
  std::size_t count = 0;
  std::optional<NonFinite> counts;
  const auto saturate = [&](std::size_t t) {
    if (!counts) counts = count_non_finite(x, n, sign, threads);
    b[t] = saturated(*counts, k[t]);
  };
  for (std::size_t t = 0; t < k.size(); ++t) {
    if (k[t] > 0 && k[t] < static_cast<double>(n)) {
      levels[count] = k[t];
      at[count++] = t;
    } else {
      saturate(t);
    }
  }
  Search<T>(alpha, arena, threads)
      .find_each(x, n, static_cast<Work<T>>(sign), levels.first(count), kPasses,
                 [&](std::size_t i, const Place& place) {
                   if (place.nan) {
                     b[at[i]] = {kNaN, 0};
                   } else if (const auto root = root_at(place, levels[i], alpha)) {
                     b[at[i]] = *root;
                   } else {
                     saturate(at[i]);
                   }
                 });
}

template <class T>
bool solve_between(const T* x, std::ptrdiff_t n, double sign, Work<T> below, Work<T> above,
                   double k, double alpha, Threshold& b, Arena& arena) {
  const Arena::Scope scope(arena);
  const Bracketed sides = bracket(x, n, sign, below, above, alpha, arena.take<T>(n).data());
  const double excess = k - static_cast<double>(sides.left);
  const bool here = excess <= 0.5 * sides.right_sum && -excess <= 0.5 * sides.left_sum;
  if (sides.inside > 0 || sides.left == 0 || sides.left == n || !here) return false;
  b = math::solve_interval({below, sides.left_sum, above, sides.right_sum}, excess, alpha).b;
  return true;
}

template <class T>
std::optional<Bracket> aim_threshold(const T* x, std::ptrdiff_t n, double sign, double k,
                                     double alpha, Arena& arena) {
  return Search<T>(alpha, arena, 1).aim(x, n, static_cast<Work<T>>(sign), {}, k);
}

template <class T>
std::optional<Threshold> solve_inside(std::span<const T> inside, const math::Interval& ends,
                                      double left_count, double k, double alpha, Arena& arena) {
  const Arena::Scope scope(arena);
  const Place place =
      Search<T>(alpha, arena, 1)
          .find(inside.data(), std::ssize(inside), 1, {ends, left_count}, k, kPasses - 1);
  if (place.nan || place.side != 0) return std::nullopt;
  return root_at(place, k, alpha);
}

LAPSUM_INSTANTIATE_FOUR(aim_threshold)
LAPSUM_INSTANTIATE_FOUR(solve_inside)
LAPSUM_INSTANTIATE_FOUR(solve_between)
LAPSUM_INSTANTIATE_FOUR(solve_thresholds)

}  // namespace lapsum::cpu
