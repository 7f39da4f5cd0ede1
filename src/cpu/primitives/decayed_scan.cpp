// Inside a narrow block the sum at value j is fall[j] times a plain prefix sum of w * rise, both ways
// round alike; what comes from other blocks is added to the prefix sum. A wide block goes step by
// step: its values are soon forgotten, so that roundings cannot add up.
#include "cpu/primitives/decayed_scan.h"

#include <limits>

#include "cpu/primitives/anchored.h"
#include "cpu/primitives/laplace.h"
#include "cpu/primitives/parallel.h"

namespace lapsum::cpu {
namespace {

// body(b) for the blocks, a chunk of values at a time.
template <class Body>
void for_each_block(const Decays& decays, int threads, Body&& body) {
  for_each_chunk(decays.size(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t b = begin / Decays::kBlock; decays.begin(b) < end; ++b) body(b);
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
        at_ends_(arena.take<double>(decays.ends.size())) {}

  // What the block's own values add up to: at each of them, or for a wide block at the last alone.
  void sum(std::ptrdiff_t b) {
    const bool narrow = decays_.is_narrow(b);
    at_ends_[entry(b)] = 0;
    if (w_.empty()) {
      const auto one = [](std::ptrdiff_t) { return 1.0; };
      at_ends_[exit(b)] = narrow ? prefix(b, one) : steps(b, 0, one);
    } else {
      const auto weight = [&](std::ptrdiff_t j) { return w_[j]; };
      at_ends_[exit(b)] = narrow ? prefix(b, weight) : steps(b, 0, weight);
    }
  }

  void join(Arena& arena, int threads) {
    joined_ = stepped_scan<0>(decays_.ends, toward, {at_ends_}, arena, threads)[0];
  }

  // Adds what comes from the blocks before, which is what the first value sees of them.
  void finish(std::ptrdiff_t b) {
    const double carry = joined_[entry(b)];
    if (decays_.is_narrow(b)) {
      const double seen = carry * grow_[first(b)];
      double* at = at_.data();
      for (std::ptrdiff_t j = decays_.begin(b); j < decays_.end(b); ++j) {
        at[j] = (at[j] + seen) * shrink_[j];
      }
    } else if (w_.empty()) {
      steps(b, carry, [](std::ptrdiff_t) { return 1.0; });
    } else {
      steps(b, carry, [&](std::ptrdiff_t j) { return w_[j]; });
    }
  }

  std::span<double> result() const { return at_; }

 private:
  static constexpr bool kRight = toward == Toward::right;

  std::ptrdiff_t entry(std::ptrdiff_t b) const { return kRight ? 2 * b : 2 * b + 1; }
  std::ptrdiff_t exit(std::ptrdiff_t b) const { return kRight ? 2 * b + 1 : 2 * b; }
  std::ptrdiff_t first(std::ptrdiff_t b) const {
    return kRight ? decays_.begin(b) : decays_.end(b) - 1;
  }
  std::ptrdiff_t last(std::ptrdiff_t b) const {
    return kRight ? decays_.end(b) - 1 : decays_.begin(b);
  }

  template <class Weight>
  double prefix(std::ptrdiff_t b, Weight&& weight) {
    const std::ptrdiff_t count = decays_.end(b) - decays_.begin(b);
    const std::ptrdiff_t from = first(b);
    double* at = at_.data();
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const std::ptrdiff_t j = kRight ? from + i : from - i;
      at[j] = sum += weight(j) * grow_[j];
    }
    return sum * shrink_[last(b)];
  }

  template <class Weight>
  double steps(std::ptrdiff_t b, double carry, Weight&& weight) {
    const std::ptrdiff_t count = decays_.end(b) - decays_.begin(b);
    const std::ptrdiff_t from = first(b);
    double* at = at_.data();
    double sum = at[from] = carry + weight(from);
    for (std::ptrdiff_t i = 1; i < count; ++i) {
      const std::ptrdiff_t j = kRight ? from + i : from - i;
      at[j] = sum = sum * grow_[j] + weight(j);
    }
    return sum;
  }

  const Decays& decays_;
  std::span<const double> w_;
  const double* grow_;
  const double* shrink_;
  std::span<double> at_, at_ends_, joined_;
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
  std::span<double> rise = arena.take<double>(n);
  std::span<double> fall = arena.take<double>(n);
  Decays decays{sorted, rise, fall, {}, alpha};
  std::span<double> ends = arena.take<double>(2 * decays.blocks());
  const double rate = std::min(1 / alpha, std::numeric_limits<double>::max());
  const double* r = sorted.data();
  for_each_block(decays, threads, [&](std::ptrdiff_t b) {
    const std::ptrdiff_t begin = decays.begin(b);
    const std::ptrdiff_t end = decays.end(b);
    ends[2 * b] = r[begin];
    ends[2 * b + 1] = r[end - 1];
    if (decays.is_narrow(b)) {
      const double middle = 0.5 * r[begin] + 0.5 * r[end - 1];
      for (std::ptrdiff_t j = begin; j < end; ++j) rise[j] = (r[j] - middle) * rate;
      rise_and_fall(rise.data() + begin, end - begin, fall.data() + begin);
      return;
    }
    for (std::ptrdiff_t j = begin + 1; j < end; ++j) rise[j] = (r[j] - r[j - 1]) * rate;
    exp_abs(rise.data() + begin + 1, end - begin - 1, rise.data() + begin + 1);
    rise[begin] = 0;
    std::copy(rise.begin() + begin + 1, rise.begin() + end, fall.begin() + begin);
    fall[end - 1] = 0;
  });
  decays.ends = make_steps(ends, alpha, arena, threads);
  return decays;
}

std::span<const double> decays_to_next(const Decays& decays, Arena& arena, int threads) {
  std::span<double> out = arena.take<double>(decays.size());
  const double* rise = decays.rise.data();
  const double* fall = decays.fall.data();
  for_each_block(decays, threads, [&](std::ptrdiff_t b) {
    const std::ptrdiff_t begin = decays.begin(b);
    const std::ptrdiff_t last = decays.end(b) - 1;
    if (decays.is_narrow(b)) {
      for (std::ptrdiff_t j = begin; j < last; ++j) out[j] = rise[j] * fall[j + 1];
    } else {
      std::copy(fall + begin, fall + last, out.begin() + begin);
    }
    out[last] = b + 1 < decays.blocks() ? decays.ends.keep[2 * b + 1] : 0;
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
