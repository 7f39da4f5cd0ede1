#include "cpu/primitives/stepped_levels.h"

#include <algorithm>
#include <cmath>

#include "cpu/primitives/decayed_scan.h"
#include "cpu/primitives/walk.h"

namespace lapsum::cpu {
namespace {

// A chunk of values, the next one, and the levels whose roots lie between them. Those of the first chunk
// may also lie before it, those of the last one behind it.
class Part {
 public:
  Part(std::span<const double> sorted, double alpha, const RowLevels& k, const ChunkOfScans& at)
      : k_(k), begin_(at.begin), size_(at.end - at.begin) {
    const std::ptrdiff_t n = std::ssize(sorted);
    const Scans<0>& ones = at.scans[0];
    row_ = {sorted.data() + at.begin, at.keep, ones.right[0].data(), ones.left[0].data(),
            size_ + (at.end < n),     alpha};
    first_ = at.begin == 0 ? 0 : first_beyond(0);
    last_ = at.end == n ? k.size() : first_beyond(size_);
  }

  /// The places, counted from the begin of the row, that are next to roots of the levels.
  std::ptrdiff_t begin() const { return begin_ + least(); }
  std::ptrdiff_t end() const { return begin_ + size_ + 1; }

  /// body(row, levels, t, begin) for blocks of levels from t on, all of them counted from `begin`.
  template <class Body>
  void for_each_block(Body&& body) const {
    constexpr std::ptrdiff_t kCounted = 32 * kLevelBlock;
    Index lefts[kCounted];
    double levels[kLevelBlock];
    for (std::ptrdiff_t from = first_; from < last_; from += kCounted) {
      const std::ptrdiff_t to = std::min(last_, from + kCounted);
      count_lefts(row_, level(from), to - from, lefts);
      // Roundings may put a root that is all but a value of another chunk beyond that value.
      const auto fewest = static_cast<Index>(least()), most = static_cast<Index>(size_);
      for (std::ptrdiff_t i = 0; i < to - from && lefts[i] < fewest; ++i) lefts[i] = fewest;
      for (std::ptrdiff_t i = to - from; i > 0 && lefts[i - 1] > most; --i) lefts[i - 1] = most;
      for (std::ptrdiff_t t = from; t < to; t += kLevelBlock) {
        const std::ptrdiff_t count = std::min(kLevelBlock, to - t);
        const double lowest = level(t);
        for (int i = 0; i < static_cast<int>(count); ++i) levels[i] = lowest + i;
        body(row_, LevelsAt{levels, lefts + (t - from), count}, t, begin_);
      }
    }
  }

 private:
  double level(std::ptrdiff_t t) const { return k_[t] - static_cast<double>(begin_); }
  std::ptrdiff_t least() const { return begin_ > 0; }

  // LapSum(r_j) = j + 1/2 + (behind - before) / 2; from the begin of the row, so that neighbouring chunks
  // agree.
  std::ptrdiff_t first_beyond(std::ptrdiff_t j) const {
    const double lag = 0.5 * (row_.behind[j] - row_.before[j]) - (k_[0] - 0.5);
    const double first = static_cast<double>(begin_ + j + 1) + std::floor(lag);
    return static_cast<std::ptrdiff_t>(std::clamp(first, 0.0, static_cast<double>(k_.size())));
  }

  const RowLevels& k_;
  std::ptrdiff_t begin_, size_;
  SummedRow row_;
  std::ptrdiff_t first_, last_;  // levels
};

template <class Body>
void for_each_part(std::span<const double> sorted, double alpha, const RowLevels& k, Arena& arena,
                   int threads, Body&& body) {
  const SideWeights ones[1];
  scan_in_chunks<float>(sorted, alpha, ones, arena, threads,
                        [&](const ChunkOfScans& at) { body(Part(sorted, alpha, k, at)); });
}

}  // namespace

void count_lefts(const SummedRow& row, double level, std::ptrdiff_t count, Index* lefts) {
  // The integer part is compared first, exactly.
  const auto beyond = [&](std::ptrdiff_t j) {
    return level - (static_cast<double>(j) + 0.5) > 0.5 * (row.behind[j] - row.before[j]);
  };
  std::ptrdiff_t j = last_beyond(row.n, beyond) + 1;
  const auto last = static_cast<std::int32_t>(count);
  std::int32_t cleared = 0;
  const auto clear_below = [&](std::int32_t t) {
    for (; cleared < t; ++cleared) lefts[cleared] = 0;
  };
  clear_below(1);
  lefts[0] = static_cast<Index>(j);
  for (std::int32_t next = 0; j < row.n && next < last;) {
    constexpr std::ptrdiff_t kBlock = 256;
    std::int32_t first[kBlock];
    const std::ptrdiff_t values = std::min(kBlock, row.n - j);
    const SummedRow part{row.r + j,      row.keep + j, row.before + j,
                         row.behind + j, values,       row.alpha};
    first_levels_beyond(part, level - static_cast<double>(j), first);
    for (std::ptrdiff_t i = 0; i < values; ++i) next = std::max(next, first[i]);
    const auto is_outside = [&](std::int32_t t) { return t >= last; };
    const std::ptrdiff_t inside =
        next < last ? values : std::find_if(first, first + values, is_outside) - first;
    clear_below(std::min(next + 1, last));
    const auto before = static_cast<Index>(j + 1);
    for (std::ptrdiff_t i = 0; i < inside; ++i) lefts[first[i]] = before + static_cast<Index>(i);
    j += inside;
  }
  clear_below(last);
  keep_greatest(lefts, count);
}

bool are_plain_steps(const RowLevels& k, std::ptrdiff_t n) {
  if (!k.are_steps() || k.size() == 0 || n == 0) return false;
  const double front = k[0], back = k[k.size() - 1];
  return !is_whole(front) && front > 0 && back < static_cast<double>(n);
}

void step_values(std::span<const double> sorted, double alpha, const RowLevels& k, Arena& arena,
                 int threads, const std::function<void(std::ptrdiff_t, std::span<double>)>& body) {
  for_each_part(sorted, alpha, k, arena, threads, [&](const Part& part) {
    part.for_each_block([&](const SummedRow& row, const LevelsAt& levels, std::ptrdiff_t t, auto) {
      double values[kLevelBlock], offset[kLevelBlock];
      solve_roots<float>(row, levels, {values, offset});
      for (std::ptrdiff_t i = 0; i < levels.count; ++i) values[i] += offset[i];
      body(t, {values, static_cast<std::size_t>(levels.count)});
    });
  });
}

void spread_steps(std::span<const double> sorted, double alpha, const RowLevels& k,
                  std::span<const double> u, std::span<double> at_left, std::span<double> at_right,
                  Arena& arena, int threads) {
  for_each_part(sorted, alpha, k, arena, threads, [&](const Part& part) {
    std::fill(at_left.begin() + part.begin(), at_left.begin() + part.end(), 0.0);
    std::fill(at_right.begin() + part.begin(), at_right.begin() + part.end(), 0.0);
    part.for_each_block(
        [&](const SummedRow& row, const LevelsAt& levels, std::ptrdiff_t t, std::ptrdiff_t begin) {
          double left[kLevelBlock], right[kLevelBlock], total[kLevelBlock];
          solve_weights<float>(row, levels, {left, right, total});
          for (std::ptrdiff_t i = 0; i < levels.count; ++i) {
            const std::ptrdiff_t place = begin + levels.lefts[i];
            at_left[place] += u[t + i] * left[i];
            at_right[place] += u[t + i] * right[i];
          }
        });
  });
}

}  // namespace lapsum::cpu
