// A step over a gap g multiplies moment 0 by e^-g and shifts the higher ones binomially:
// M_p <- e^-g sum_q C(p, q) g^(p-q) M_q.
#include "cpu/primitives/stepped_scan.h"

#include <algorithm>
#include <vector>

#include "cpu/primitives/compensated.h"
#include "cpu/primitives/laplace.h"
#include "cpu/primitives/parallel.h"
#include "math/laplace.h"

namespace lapsum::cpu {
namespace {

template <int Order>
using State = std::array<double, Order + 1>;

// What the moments gain by being seen from a distance `gap` further away, before the decay itself.
template <int Order>
State<Order> gain(const State<Order>& m, double gap) {
  State<Order> out{};
  if constexpr (Order >= 1) out[1] = gap * m[0];
  if constexpr (Order >= 2) out[2] = gap * (2 * m[1] + gap * m[0]);
  if constexpr (Order >= 3) out[3] = gap * (3 * m[2] + gap * (3 * m[1] + gap * m[0]));
  return out;
}

template <int Order>
State<Order> shifted(const State<Order>& m, double gap) {
  State<Order> out = gain<Order>(m, gap);
  for (int p = 0; p <= Order; ++p) out[p] += m[p];
  return out;
}

// Scans [begin, end) alone, as if nothing came before, and returns the moments at its last element.
// Losses far below an ulp of the moment would round away one after another, all in the same
// direction: the sums are compensated.
template <int Order, Toward toward>
State<Order> scan_chunk(const Steps& steps, const Weights<Order>& w, std::ptrdiff_t begin,
                        std::ptrdiff_t end, const Moments<Order>& at) {
  constexpr bool kRight = toward == Toward::right;
  std::array<Compensated, Order + 1> moment;
  State<Order> m{};
  const std::ptrdiff_t first = kRight ? begin : end - 1;
  for (std::ptrdiff_t step = 0; step < end - begin; ++step) {
    const std::ptrdiff_t j = kRight ? begin + step : end - 1 - step;
    if (j != first) {
      const std::ptrdiff_t between = kRight ? j - 1 : j;
      const double keep = steps.keep[between];
      const double loss = steps.loss[between];
      const State<Order> more = gain<Order>(m, steps.gap[between]);
      for (int p = 0; p <= Order; ++p) {
        const double seen = m[p] + more[p];
        if (loss < keep) {
          moment[p].add(more[p] - loss * seen);
        } else {
          moment[p] = {keep > 0 ? keep * seen : 0, 0};
        }
      }
    }
    moment[0].add(w[0].empty() ? 1.0 : w[0][j]);
    for (int p = 1; p <= Order; ++p) {
      if (!w[p].empty()) moment[p].add(w[p][j]);
    }
    for (int p = 0; p <= Order; ++p) at[p][j] = m[p] = moment[p].value();
  }
  return m;
}

// Adds the moments `carry`, those at r[from], decayed, to the elements of [begin, end).
template <int Order>
void add_carry(const Steps& steps, const State<Order>& carry, std::ptrdiff_t from,
               std::ptrdiff_t begin, std::ptrdiff_t end, const Moments<Order>& at) {
  constexpr std::ptrdiff_t kBlock = 256;
  std::array<double, kBlock> distance;
  std::array<double, kBlock> decay;
  const auto far = [&](std::ptrdiff_t j) {
    return std::min(std::abs(steps.r[j] - steps.r[from]) / steps.alpha, math::kFar);
  };
  for (std::ptrdiff_t b = begin; b < end; b += kBlock) {
    const std::ptrdiff_t count = std::min(kBlock, end - b);
    if (std::min(far(b), far(b + count - 1)) >= math::kFar) continue;
    for (std::ptrdiff_t i = 0; i < count; ++i) distance[i] = far(b + i);
    exp_abs(distance.data(), count, decay.data());
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const State<Order> s = shifted<Order>(carry, distance[i]);
      for (int p = 0; p <= Order; ++p) at[p][b + i] += decay[i] * s[p];
    }
  }
}

template <int Order, Toward toward>
void scan(const Steps& steps, const Weights<Order>& w, const Moments<Order>& at, int threads) {
  const std::ptrdiff_t n = steps.size();
  const Chunks cut(n);
  const std::ptrdiff_t chunks = cut.count();
  if (chunks <= 1) {
    scan_chunk<Order, toward>(steps, w, 0, n, at);
    return;
  }
  constexpr bool kRight = toward == Toward::right;
  std::vector<State<Order>> last(static_cast<std::size_t>(chunks));
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    last[static_cast<std::size_t>(cut.at(begin))] =
        scan_chunk<Order, toward>(steps, w, begin, end, at);
  });
  // last[c] becomes the moments at the last element of chunk c with all chunks before it.
  const auto end_of = [&](std::ptrdiff_t c) { return kRight ? cut.end(c) - 1 : cut.begin(c); };
  for (std::ptrdiff_t step = 1; step < chunks; ++step) {
    const std::ptrdiff_t c = kRight ? step : chunks - 1 - step;
    const std::ptrdiff_t before = kRight ? c - 1 : c + 1;
    const double gap =
        std::min(std::abs(steps.r[end_of(c)] - steps.r[end_of(before)]) / steps.alpha, math::kFar);
    const State<Order> s = shifted<Order>(last[static_cast<std::size_t>(before)], gap);
    for (int p = 0; p <= Order; ++p) last[static_cast<std::size_t>(c)][p] += std::exp(-gap) * s[p];
  }
  for_each_chunk(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    const std::ptrdiff_t c = cut.at(begin);
    const std::ptrdiff_t before = kRight ? c - 1 : c + 1;
    if (before < 0 || before >= chunks) return;
    add_carry<Order>(steps, last[static_cast<std::size_t>(before)], end_of(before), begin, end, at);
  });
}

}  // namespace

Steps make_steps(std::span<const double> sorted, double alpha, Arena& arena, int threads) {
  const auto n = static_cast<std::ptrdiff_t>(sorted.size());
  const std::ptrdiff_t gaps = std::max<std::ptrdiff_t>(n - 1, 0);
  std::span<double> gap = arena.take<double>(gaps);
  std::span<double> keep = arena.take<double>(gaps);
  std::span<double> loss = arena.take<double>(gaps);
  for_each_chunk(gaps, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t j = begin; j < end; ++j) {
      gap[j] = std::min((sorted[j + 1] - sorted[j]) / alpha, math::kFar);
    }
    exp_abs(gap.data() + begin, end - begin, keep.data() + begin);
    decay_loss(gap.data() + begin, end - begin, loss.data() + begin);
  });
  return {sorted, gap, keep, loss, alpha};
}

template <int Order>
Moments<Order> stepped_scan(const Steps& steps, Toward toward, const Weights<Order>& w,
                            Arena& arena, int threads) {
  Moments<Order> at;
  for (std::span<double>& moment : at) moment = arena.take<double>(steps.size());
  if (toward == Toward::right) {
    scan<Order, Toward::right>(steps, w, at, threads);
  } else {
    scan<Order, Toward::left>(steps, w, at, threads);
  }
  return at;
}

template Moments<0> stepped_scan<0>(const Steps&, Toward, const Weights<0>&, Arena&, int);
template Moments<1> stepped_scan<1>(const Steps&, Toward, const Weights<1>&, Arena&, int);
template Moments<2> stepped_scan<2>(const Steps&, Toward, const Weights<2>&, Arena&, int);
template Moments<3> stepped_scan<3>(const Steps&, Toward, const Weights<3>&, Arena&, int);

}  // namespace lapsum::cpu
