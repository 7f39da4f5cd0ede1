// The decayed scan against its sums: every order, both directions, any weights; rows of many chunks
// with any number of threads; and a row whose roundings would all go the same way.
#include <gtest/gtest.h>

#include <atomic>

#include "bits.h"
#include "cpu/primitives/decayed_scan.h"
#include "cpu/primitives/parallel.h"
#include "families.h"
#include "guarded.h"
#include "math/laplace.h"
#include "reference.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using reference::Real;
using test::allowed;
using test::Draw;
using test::Guarded;
using test::within;

constexpr double kAlphas[] = {1e-4, 0.3, 1e4};

// The moments that element j sees: the sums, and the same of absolute values.
template <int Order>
struct Seen {
  std::array<Real, Order + 1> sum{}, size{};
};

// A source at distance zeta with moments m_q of its own has moment
// sum_q C(p, q) zeta^(p-q) m_q e^-zeta at p: the sum of (zeta + d)^p over what it consists of.
template <int Order>
Seen<Order> define(const Decays& decays, Toward toward, const Weights<Order>& w, std::ptrdiff_t j) {
  constexpr Real kBinomial[4][4] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}};
  const std::ptrdiff_t begin = toward == Toward::right ? 0 : j;
  const std::ptrdiff_t end = toward == Toward::right ? j + 1 : decays.size();
  Seen<Order> seen;
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    const Real zeta = std::abs(Real(decays.r[j]) - decays.r[i]) / decays.alpha;
    Real power[4] = {std::exp(-zeta)};  // zeta^p e^-zeta
    for (int p = 1; p <= Order; ++p) power[p] = zeta * power[p - 1];
    for (int p = 0; p <= Order; ++p) {
      for (int q = 0; q <= p; ++q) {
        const Real weight = !w[q].empty() ? Real(w[q][i]) : q == 0 ? 1 : 0;
        seen.sum[p] += kBinomial[p][q] * power[p - q] * weight;
        seen.size[p] += kBinomial[p][q] * power[p - q] * std::abs(weight);
      }
    }
  }
  return seen;
}

template <int Order>
void expect_moments(const Decays& decays, Toward toward, const Weights<Order>& w,
                    const Moments<Order>& got, std::ptrdiff_t step) {
  for (std::ptrdiff_t j = 0; j < decays.size(); j += step) {
    const Seen<Order> want = define<Order>(decays, toward, w, j);
    for (int p = 0; p <= Order; ++p) {
      ASSERT_TRUE(
          within(got[p][j], want.sum[p],
                 allowed("decayed_scan", "float64", "value", {{"sum|terms|", want.size[p]}})))
          << "moment " << p << " of element " << j << " of " << decays.size();
    }
  }
}

// Weights of any sign, one set per order; `given` says for how many orders, the others are left
// empty.
template <int Order>
struct RandomWeights {
  std::vector<std::vector<double>> values;
  Weights<Order> w{};

  RandomWeights(std::ptrdiff_t n, int given) {
    Draw draw(5);
    for (int p = 0; p < given; ++p) values.push_back(draw.normals(n));
    for (int p = 0; p < given; ++p) w[p] = values[static_cast<std::size_t>(p)];
  }
};

template <int Order>
void expect_scans(const std::vector<double>& sorted, double alpha, int threads,
                  std::ptrdiff_t step) {
  Arena arena;
  const Decays decays = make_decays(sorted, alpha, arena, threads);
  for (const int given : {0, 1, Order + 1}) {
    const RandomWeights<Order> weights(std::ssize(sorted), given);
    for (const Toward toward : {Toward::right, Toward::left}) {
      SCOPED_TRACE(testing::Message() << "order " << Order << ", " << given << " weights, toward "
                                      << (toward == Toward::right ? "right" : "left"));
      expect_moments<Order>(decays, toward, weights.w,
                            decayed_scan<Order>(decays, toward, weights.w, arena, threads), step);
    }
  }
}

void expect_all_orders(const std::vector<double>& sorted, double alpha, int threads,
                       std::ptrdiff_t step) {
  expect_scans<0>(sorted, alpha, threads, step);
  expect_scans<1>(sorted, alpha, threads, step);
  expect_scans<2>(sorted, alpha, threads, step);
  expect_scans<3>(sorted, alpha, threads, step);
}

std::vector<double> sorted_row(const test::Family& family, std::ptrdiff_t n) {
  std::vector<double> row = family.row(n);
  std::sort(row.begin(), row.end());
  return row;
}

TEST(DecayedScan, steps_are_gaps_and_losses) {
  test::for_each_target([] {
    for (const std::ptrdiff_t n : test::kLengths) {
      for (const double alpha : kAlphas) {
        test::Guarded<double> r(sorted_row(test::family("normal"), n));
        Arena arena;
        const Steps steps = make_steps(r.span(), alpha, arena, 2);
        ASSERT_EQ(steps.size(), n);
        ASSERT_EQ(std::ssize(steps.gap), std::max<std::ptrdiff_t>(n - 1, 0));
        ASSERT_EQ(steps.loss.size(), steps.gap.size());
        for (std::ptrdiff_t j = 0; j + 1 < n; ++j) {
          const double gap = std::min((r[j + 1] - r[j]) / alpha, math::kFar);
          const Real loss = -std::expm1(-Real(gap));
          ASSERT_EQ(steps.gap[j], gap);
          ASSERT_TRUE(
              within(steps.loss[j], loss,
                     allowed("decay_loss", "float64", "value", {{"ulp(y)", test::ulp(loss)}})));
        }
      }
    }
  });
}

TEST(DecayedScan, blocks_hold_the_decays_between_their_values) {
  test::for_each_target([] {
    for (const test::Family& family : test::kFamilies) {
      for (const std::ptrdiff_t n : {0, 1, 63, 64, 65, 1000}) {
        for (const double alpha : kAlphas) {
          SCOPED_TRACE(testing::Message() << family.name << ", n = " << n << ", alpha = " << alpha);
          const std::vector<double> r = sorted_row(family, n);
          Arena arena;
          const Decays decays = make_decays(r, alpha, arena, 2);
          const std::span<const double> next = decays_to_next(decays, arena, 2);
          const Real bound = 2 * allowed("rise", "float64", "value", {{"y", 1}});
          for (std::ptrdiff_t j = 0; j + 1 < n; ++j) {
            const std::ptrdiff_t block = j / Decays::kBlock;
            const Real z = (Real(r[j + 1]) - r[j]) / alpha;
            const Real want = std::exp(-z);
            const Real limit = want * (bound + z * 1e-15L) + 1e-290L;
            ASSERT_TRUE(within(next[j], want, limit)) << "value " << j;
            if (j + 1 == decays.end(block)) continue;
            const double here =
                decays.is_narrow(block) ? decays.rise[j] * decays.fall[j + 1] : decays.rise[j + 1];
            ASSERT_TRUE(within(here, want, limit)) << "value " << j;
          }
        }
      }
    }
  });
}

// The fast scan against the slow one, on rows that fill blocks and on rows that break them up.
TEST(DecayedScan, agrees_with_the_scan_by_steps) {
  test::for_each_target([] {
    for (const test::Family& family : test::kFamilies) {
      for (const double alpha : {1e-6, 1e-3, 0.1, 10.0, 1e5}) {
        SCOPED_TRACE(testing::Message() << family.name << ", alpha = " << alpha);
        const std::vector<double> r = sorted_row(family, 17011);
        Arena arena;
        const Decays decays = make_decays(r, alpha, arena, 1);
        const Steps steps = make_steps(r, alpha, arena, 1);
        for (const int given : {0, 1}) {
          const RandomWeights<0> weights(std::ssize(r), given);
          std::vector<double> size(r.size(), 1.0);
          if (given) {
            std::transform(weights.w[0].begin(), weights.w[0].end(), size.begin(),
                           [](double w) { return std::abs(w); });
          }
          const Scans<0> got = scan_both<0>(decays, weights.w, arena, 1);
          for (const Toward toward : {Toward::right, Toward::left}) {
            const std::span<double> fast = toward == Toward::right ? got.right[0] : got.left[0];
            const std::span<double> slow = stepped_scan<0>(steps, toward, weights.w, arena, 1)[0];
            const std::span<double> terms = stepped_scan<0>(steps, toward, {size}, arena, 1)[0];
            const std::span<double> alone = decayed_scan<0>(decays, toward, weights.w, arena, 1)[0];
            EXPECT_TRUE(test::same_bits(fast, alone));
            for (std::size_t j = 0; j < r.size(); j += 23) {
              ASSERT_TRUE(within(
                  fast[j], slow[j],
                  2 * allowed("decayed_scan", "float64", "value", {{"sum|terms|", terms[j]}})))
                  << "element " << j;
            }
          }
        }
      }
    }
  });
}

TEST(DecayedScan, is_its_sum_at_every_length) {
  test::for_each_target([] {
    for (const std::ptrdiff_t n : test::kShortLengths) {
      for (const double alpha : kAlphas) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", alpha = " << alpha);
        expect_all_orders(sorted_row(test::family("normal"), n), alpha, 1, n > 50 ? 16 : 1);
      }
    }
  });
}

TEST(DecayedScan, is_its_sum_on_every_family) {
  for (const test::Family& family : test::kFamilies) {
    for (const double alpha : kAlphas) {
      SCOPED_TRACE(testing::Message() << family.name << ", alpha = " << alpha);
      expect_all_orders(sorted_row(family, 97), alpha, 1, 7);
    }
  }
}

TEST(DecayedScan, joins_chunks) {
  for (const double alpha : {1e-3, 10.0}) {
    SCOPED_TRACE(alpha);
    expect_all_orders(sorted_row(test::family("normal"), 100003), alpha, 2, 19997);
  }
}

TEST(DecayedScan, carries_across_whole_chunks) {
  // All the weight is at one end: every other chunk sees it through carries alone.
  const std::ptrdiff_t n = 4 * kChunk + 1;
  std::vector<double> r(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = static_cast<double>(i);
  Arena arena;
  const Decays decays = make_decays(r, static_cast<double>(kChunk), arena, 2);
  for (const Toward toward : {Toward::right, Toward::left}) {
    std::vector<double> w(r.size(), 0.0);
    (toward == Toward::right ? w.front() : w.back()) = 1;
    const Weights<3> weights{w};
    expect_moments<3>(decays, toward, weights, decayed_scan<3>(decays, toward, weights, arena, 2),
                      1021);
  }
}

TEST(DecayedScan, has_the_same_bits_for_any_thread_count) {
  const std::vector<double> r = sorted_row(test::family("normal"), 100003);
  const RandomWeights<3> weights(std::ssize(r), 4);
  for (const Toward toward : {Toward::right, Toward::left}) {
    std::vector<Moments<3>> runs;
    Arena arena;
    for (const int threads : {1, 2, 3, 3}) {
      const Decays decays = make_decays(r, 0.1, arena, threads);
      runs.push_back(decayed_scan<3>(decays, toward, weights.w, arena, threads));
    }
    for (const Moments<3>& run : runs) {
      for (int p = 0; p <= 3; ++p) {
        EXPECT_TRUE(test::same_bits(run[p], runs[0][p]));
      }
    }
  }
}

TEST(DecayedScan, in_chunks_has_the_bits_of_the_whole) {
  // Rows of one chunk, of few, whose sums are kept, and of many, which are made twice.
  for (const std::ptrdiff_t n : {0, 1, 64, 16384, 16385, 8 * 16384, 8 * 16384 + 1, 200003}) {
    const std::vector<double> r = sorted_row(test::family("normal"), n);
    const std::vector<double> v = Draw(5).normals(n);
    for (const double alpha : kAlphas) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", alpha = " << alpha);
      Arena arena;
      const Decays decays = make_decays(r, alpha, arena, 1);
      const Scans<0> want[] = {scan_both<0>(decays, {}, arena, 1),
                               scan_both<0>(decays, {v}, arena, 1)};
      const std::span<const double> to_next = decays_to_next(decays, arena, 1);
      const SideWeights weights[] = {{}, {v, v}};
      for (const int threads : {1, 2, 3}) {
        std::atomic<std::ptrdiff_t> seen = 0;
        scan_in_chunks<double>(r, alpha, weights, arena, threads, [&](const ChunkOfScans& at) {
          const auto part = [&](std::span<const double> all) {
            return all.subspan(static_cast<std::size_t>(at.begin), at.decays.r.size());
          };
          for (std::size_t w = 0; w < 2; ++w) {
            const std::span<const double> right = at.scans[w].right[0], left = at.scans[w].left[0];
            EXPECT_TRUE(test::same_bits(right, part(want[w].right[0])));
            EXPECT_TRUE(test::same_bits(left, part(want[w].left[0])));
          }
          EXPECT_TRUE(test::same_bits(at.decays.rise, part(decays.rise)));
          seen += at.end - at.begin;
        });
        EXPECT_EQ(seen, n);
        Guarded<double> right(n), left(n), keep(n);
        scan_ones<double>(r, alpha, {right.data(), left.data(), keep.data()}, arena, threads);
        EXPECT_TRUE(test::same_bits<double>(right.copy(), want[0].right[0]));
        EXPECT_TRUE(test::same_bits<double>(left.copy(), want[0].left[0]));
        EXPECT_TRUE(test::same_bits<double>(keep.copy(), to_next));
      }
    }
  }
}

TEST(DecayedScan, does_not_add_up_roundings_of_the_decay) {
  // e^-gap is off by up to 2^-54, here always to the same side: a million products of it are wrong
  // by 1e-11, the sums with them.
  std::vector<double> r(1'000'000);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = static_cast<double>(i);
  const double alpha = 3e6;
  Arena arena;
  const Decays decays = make_decays(r, alpha, arena, 2);
  const Moments<0> got = decayed_scan<0>(decays, Toward::right, {}, arena, 2);
  for (std::size_t j = 0; j < r.size(); j += 9973) {
    const Real g = 1 / Real(alpha);
    const Real want = std::expm1(-g * Real(j + 1)) / std::expm1(-g);
    ASSERT_TRUE(within(got[0][j], want,
                       allowed("decayed_scan", "float64", "value", {{"sum|terms|", want}})))
        << "element " << j;
  }
}

}  // namespace
}  // namespace lapsum::cpu
