// Masks that come with their threshold by a way of their own, against their definition and against the
// way that all rows can go: the threshold first, then the mask.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bits.h"
#include "cpu/primitives/density.h"
#include "cpu/primitives/threshold.h"
#include "families.h"
#include "guarded.h"
#include "reference.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::test {

/// Rows that are hard on a sample, or a guess.
inline const Family kHard[] = {
    {"after a ReLU",
     [](Draw& draw, auto, auto) { return draw.uniform() < 0.99 ? 0 : std::abs(draw.normal()); }},
    {"three in four equal",
     [](Draw& draw, auto, auto) { return draw.uniform() < 0.75 ? -1.3 : draw.normal(); }},
    {"plateau",
     [](Draw& draw, auto i, auto n) { return (i % 2 ? 50.0 : 0.0) + draw.normal() / n; }},
    {"one far value in seven",
     [](Draw& draw, auto i, auto) { return i % 7 ? draw.normal() : 30 + draw.normal(); }},
    {"sorted normals",
     [](Draw& draw, auto i, auto n) {
       return std::tan(3.1 * ((double(i) + 0.5 * draw.uniform()) / double(n) - 0.5));
     }},
};

template <class T>
struct Masked {
  std::optional<Threshold> b;
  std::vector<T> p;
};

/// A way finds no threshold where it leaves a row to others.
template <class T>
using Way =
    std::function<Masked<T>(const std::vector<T>& row, double sign, double k, double alpha)>;

template <class T>
Masked<T> in_turn(const std::vector<T>& row, double sign, double k, double alpha) {
  Masked<T> out{Threshold{}, std::vector<T>(row.size())};
  cpu::Arena arena;
  cpu::solve_thresholds(row.data(), std::ssize(row), sign, {&k, 1}, alpha, {&*out.b, 1}, arena, 1);
  cpu::cdf_at(row.data(), std::ssize(row), sign, *out.b, alpha, out.p.data());
  return out;
}

/// Both ways; returns whether `way` took the row.
template <class T>
bool expect_masks(const Way<T>& way, const std::vector<T>& row, double sign, double k,
                  double alpha) {
  std::vector<reference::Real> r;
  for (const T v : row) r.push_back(sign * reference::Real(v));
  const auto b = reference::root<reference::Real>(r, k, alpha);
  bool taken = false;
  for_each_target([&] {
    const auto expect = [&](const Masked<T>& got) {
      reference::Real sum = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        sum += got.p[i];
        ASSERT_TRUE(within(got.p[i], reference::cdf(b.from(r[i], alpha)),
                           allowed("soft_topk", kDtype<T>, "value")))
            << "at " << i;
      }
      EXPECT_TRUE(within(sum, k, allowed("soft_topk", kDtype<T>, "sum", {{"k", k}})));
    };
    const Masked<T> got = way(row, sign, k, alpha);
    if (got.b) {
      SCOPED_TRACE("by its own way");
      taken = true;
      expect(got);
    }
    expect(in_turn(row, sign, k, alpha));
  });
  return taken;
}

/// Rows of all families, and how many of each the way takes.
template <class T, class Families>
void expect_families(const Way<T>& way, const Families& families, std::ptrdiff_t n,
                     std::map<std::string, int>& taken) {
  for (const Family& family : families) {
    const std::vector<T> row = family.row<T>(n);
    const auto size = static_cast<double>(n);
    for (const double alpha : {1e-4, 1e-2, 0.1, 1.0, 1e2}) {
      for (const double k :
           {0.25, 5.0, size / 100, std::floor(size / 2), size / 2 + 0.3, size - 3}) {
        SCOPED_TRACE(testing::Message()
                     << family.name << ", n = " << n << ", alpha = " << alpha << ", k = " << k);
        taken[family.name] += expect_masks(way, row, alpha < 0.05 ? 1 : -1, k, alpha);
      }
    }
  }
}

/// Roundings of equal decays move the threshold, and with it the sum, which needs no definition.
template <class T>
void expect_sums_of_ties(const Way<T>& way) {
  Draw draw(6);
  for (int i = 0; i < 4000; ++i) {
    const double share = 0.2 + 0.6 * draw.uniform(), tie = -2.7 + 0.5 * draw.uniform();
    const double alpha = 0.02 + 0.05 * draw.uniform();
    std::vector<T> row(1500);
    if (i % 4 == 0) {  // again and again the same few
      const std::size_t period = 3 + static_cast<std::size_t>(i / 4) % 4;
      for (T& v : row) v = T(draw.normal());
      for (std::size_t j = period; j < row.size(); ++j) row[j] = row[j - period];
    } else {
      for (T& v : row) v = T(draw.uniform() < share ? tie : draw.normal());
    }
    const double k = 1500 * (0.02 + 0.03 * draw.uniform());
    const Masked<T> got = way(row, 1, k, alpha);
    if (!got.b) continue;
    reference::Real sum = 0;
    for (const T p : got.p) sum += p;
    EXPECT_TRUE(within(sum, k, allowed("soft_topk", kDtype<T>, "sum", {{"k", k}})))
        << "share " << share << ", tie " << tie << ", alpha " << alpha << ", k " << k;
  }
}

}  // namespace lapsum::test
