// Inside a block the sum at value j is fall[j] times a plain prefix sum of w * rise, both ways round
// alike; what comes from other blocks is added to the prefix sum.
#include "cpu/primitives/decayed_scan.h"

#include <algorithm>
#include <limits>

#include "cpu/primitives/anchored.h"
#include "cpu/primitives/parallel.h"

namespace lapsum::cpu {
namespace {

// The end of the block that begins at `begin`.
std::ptrdiff_t block_end(std::span<const double> r, double alpha, std::ptrdiff_t begin,
                         std::ptrdiff_t limit) {
  const std::ptrdiff_t end = std::min(begin + Decays::kBlock, limit);
  const auto near = [&](double v) { return (v - r[begin]) / alpha <= Decays::kSpan; };
  if (near(r[end - 1])) return end;
  return std::partition_point(r.begin() + begin + 1, r.begin() + end, near) - r.begin();
}

// Blocks never cross a chunk, so that chunks can be cut independently.
std::span<Index> cut_blocks(std::span<const double> r, double alpha, Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(r);
  const std::ptrdiff_t chunks = chunk_count(n);
  std::span<Index> first = arena.take<Index>(n + 1);
  std::span<std::ptrdiff_t> counts = arena.take<std::ptrdiff_t>(chunks);
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t j = begin; j < end; j = block_end(r, alpha, j, end)) {
      first[begin + count++] = static_cast<Index>(j);
    }
    counts[begin / kChunk] = count;
  });
  std::ptrdiff_t total = chunks > 0 ? counts[0] : 0;
  for (std::ptrdiff_t c = 1; c < chunks; ++c) {
    std::copy_n(first.begin() + c * kChunk, counts[c], first.begin() + total);
    total += counts[c];
  }
  first[total] = static_cast<Index>(n);
  return first.first(static_cast<std::size_t>(total + 1));
}

// body(b) for the blocks, about a chunk of values at a time.
template <class Body>
void for_each_block(const Decays& decays, int threads, Body&& body) {
  constexpr std::ptrdiff_t kGroup = kChunk / Decays::kBlock;
  const std::ptrdiff_t blocks = decays.blocks();
  parallel_for((blocks + kGroup - 1) / kGroup, threads, [&](std::ptrdiff_t group, int) {
    const std::ptrdiff_t end = std::min(blocks, (group + 1) * kGroup);
    for (std::ptrdiff_t b = group * kGroup; b < end; ++b) body(b);
  });
}

// One direction of a scan: the values of a block from the first one on, whichever way that is.
template <Toward toward>
class Scan {
 public:
  Scan(const Decays& decays, std::span<const double> w, Arena& arena)
      : decays_(decays),
        w_(w),
        grow_(kRight ? decays.rise.data() : decays.fall.data()),
        shrink_(kRight ? decays.fall.data() : decays.rise.data()),
        at_(arena.take<double>(decays.size())),
        totals_(arena.take<double>(decays.blocks())) {}

  void sum(std::ptrdiff_t b) {
    totals_[b] = w_.empty() ? prefix(b, [&](std::ptrdiff_t j) { return grow_[j]; })
                            : prefix(b, [&](std::ptrdiff_t j) { return w_[j] * grow_[j]; });
  }

  void join(Arena& arena, int threads) {
    joined_ = stepped_scan<0>(decays_.anchors, toward, {totals_}, arena, threads)[0];
  }

  void finish(std::ptrdiff_t b) {
    const std::ptrdiff_t before = kRight ? b - 1 : b + 1;
    const bool alone = before < 0 || before >= decays_.blocks();
    const double carry = alone ? 0 : joined_[before] * decays_.anchors.keep[std::min(b, before)];
    double* at = at_.data();
    for (std::ptrdiff_t j = decays_.first[b]; j < decays_.first[b + 1]; ++j) {
      at[j] = (at[j] + carry) * shrink_[j];
    }
  }

  std::span<double> result() const { return at_; }

 private:
  static constexpr bool kRight = toward == Toward::right;

  template <class Term>
  double prefix(std::ptrdiff_t b, Term&& term) {
    const std::ptrdiff_t begin = decays_.first[b];
    const std::ptrdiff_t end = decays_.first[b + 1];
    double* at = at_.data();
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < end - begin; ++i) {
      const std::ptrdiff_t j = kRight ? begin + i : end - 1 - i;
      at[j] = sum += term(j);
    }
    return sum;
  }

  const Decays& decays_;
  std::span<const double> w_;
  const double* grow_;
  const double* shrink_;
  std::span<double> at_, totals_, joined_;
};

template <class... Scan>
void run(const Decays& decays, Arena& arena, int threads, Scan&... scan) {
  for_each_block(decays, threads, [&](std::ptrdiff_t b) { (scan.sum(b), ...); });
  (scan.join(arena, threads), ...);
  for_each_block(decays, threads, [&](std::ptrdiff_t b) { (scan.finish(b), ...); });
}

}  // namespace

Decays make_decays(std::span<const double> sorted, double alpha, Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(sorted);
  const std::span<const Index> first = cut_blocks(sorted, alpha, arena, threads);
  std::span<double> anchors = arena.take<double>(std::ssize(first) - 1);
  std::span<double> rise = arena.take<double>(n);
  std::span<double> fall = arena.take<double>(n);
  for (std::size_t b = 0; b < anchors.size(); ++b) {
    anchors[b] = 0.5 * sorted[first[b]] + 0.5 * sorted[first[b + 1] - 1];
  }
  const double rate = std::min(1 / alpha, std::numeric_limits<double>::max());
  Decays decays{sorted, rise, fall, first, make_steps(anchors, alpha, arena, threads), alpha};
  for_each_block(decays, threads, [&](std::ptrdiff_t b) {
    std::fill(fall.begin() + first[b], fall.begin() + first[b + 1], anchors[b]);
  });
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    rise_and_fall(sorted.data() + begin, end - begin, rate, rise.data() + begin,
                  fall.data() + begin);
  });
  return decays;
}

std::span<const double> decays_to_next(const Decays& decays, Arena& arena, int threads) {
  std::span<double> out = arena.take<double>(decays.size());
  const double* rise = decays.rise.data();
  const double* fall = decays.fall.data();
  for_each_block(decays, threads, [&](std::ptrdiff_t b) {
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(decays.first[b + 1]) - 1;
    for (std::ptrdiff_t j = decays.first[b]; j < last; ++j) out[j] = rise[j] * fall[j + 1];
    const bool final = b + 1 == decays.blocks();
    out[last] = final ? 0 : rise[last] * fall[last + 1] * decays.anchors.keep[b];
  });
  return out;
}

template <int Order>
Moments<Order> decayed_scan(const Decays& decays, Toward toward, const Weights<Order>& w,
                            Arena& arena, int threads) {
  if constexpr (Order > 0) {
    const Steps steps = make_steps(decays.r, decays.alpha, arena, threads);
    return stepped_scan<Order>(steps, toward, w, arena, threads);
  } else if (toward == Toward::right) {
    Scan<Toward::right> scan(decays, w[0], arena);
    run(decays, arena, threads, scan);
    return {scan.result()};
  } else {
    Scan<Toward::left> scan(decays, w[0], arena);
    run(decays, arena, threads, scan);
    return {scan.result()};
  }
}

template <int Order>
Scans<Order> scan_both(const Decays& decays, const Weights<Order>& w, Arena& arena, int threads) {
  if constexpr (Order > 0) {
    const Steps steps = make_steps(decays.r, decays.alpha, arena, threads);
    return {stepped_scan<Order>(steps, Toward::right, w, arena, threads),
            stepped_scan<Order>(steps, Toward::left, w, arena, threads)};
  } else {
    Scan<Toward::right> right(decays, w[0], arena);
    Scan<Toward::left> left(decays, w[0], arena);
    run(decays, arena, threads, right, left);
    return {{right.result()}, {left.result()}};
  }
}

template Moments<0> decayed_scan<0>(const Decays&, Toward, const Weights<0>&, Arena&, int);
template Moments<1> decayed_scan<1>(const Decays&, Toward, const Weights<1>&, Arena&, int);
template Moments<2> decayed_scan<2>(const Decays&, Toward, const Weights<2>&, Arena&, int);
template Moments<3> decayed_scan<3>(const Decays&, Toward, const Weights<3>&, Arena&, int);

template Scans<0> scan_both<0>(const Decays&, const Weights<0>&, Arena&, int);
template Scans<1> scan_both<1>(const Decays&, const Weights<1>&, Arena&, int);
template Scans<2> scan_both<2>(const Decays&, const Weights<2>&, Arena&, int);
template Scans<3> scan_both<3>(const Decays&, const Weights<3>&, Arena&, int);

}  // namespace lapsum::cpu
