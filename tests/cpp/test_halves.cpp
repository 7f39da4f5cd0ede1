// Rows of half types: every result is that of the same row in float, rounded to the half type, to
// the last bit, on every instruction set; and what is not an element is the same number.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "bits.h"
#include "cpu/primitives/row.h"
#include "families.h"
#include "guarded.h"
#include "lapsum/log_soft_topk.h"
#include "lapsum/soft_topk.h"
#include "targets.h"

namespace lapsum {
namespace {

using test::Draw;
using test::Guarded;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const test::Family kMore[] = {
    {"mostly zeros",
     [](Draw& draw, auto, auto) { return draw.uniform() < 0.99 ? 0 : draw.normal(); }},
    {"heavy tails", [](Draw& draw, auto, auto) { return draw.normal() / draw.normal(); }},
    {"subnormal", [](Draw& draw, auto, auto) { return 0x1p-16 * draw.normal(); }},
    {"plateau", [](Draw& draw, auto i, auto n) { return (2 * i < n ? 0 : 100) + draw.normal(); }},
    {"a NaN", [](Draw& draw, auto i, auto n) { return i == n / 2 ? kNaN : draw.normal(); }},
    {"infinities",
     [](Draw& draw, auto i, auto) {
       return i % 5 == 0 ? kInf : i % 7 == 0 ? -kInf : draw.normal();
     }},
    {"far ends", [](Draw&, auto i, auto n) { return 2 * i < n ? -kInf : kInf; }},
};

// A batch with all that goes with it, in doubles that T holds.
struct Problem {
  std::ptrdiff_t rows, n, levels;
  std::vector<double> x, g, dx, k, alpha, dk, dalpha;
  std::vector<std::ptrdiff_t> lengths;
  Order order;
};

template <class T>
std::vector<double> held(std::vector<double> values) {
  for (double& v : values) v = cpu::to_double(cpu::narrow<T>(v));
  return values;
}

template <class T>
Problem make(const test::Family& family, std::ptrdiff_t n, std::ptrdiff_t levels, double alpha,
             Order order, bool ragged) {
  Draw draw(static_cast<unsigned>(n + levels));
  Problem p{n > 5000 ? 2 : 5, n, levels, {}, {}, {}, {}, {}, {}, {}, {}, order};
  const auto size = static_cast<double>(n);
  const double choices[] = {std::floor(size / 2), 0.3 * size, 1, size - 0.25, 0, size, kNaN, 0.01};
  for (std::ptrdiff_t i = 0; i < p.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j) p.x.push_back(family.element(draw, j, n));
    for (std::ptrdiff_t l = 0; l < levels; ++l) p.k.push_back(choices[(3 * i + l) % 8]);
    p.alpha.push_back(i % 3 == 2 ? -alpha : alpha * (1 + static_cast<double>(i)));
    if (ragged) p.lengths.push_back(i == 0 ? n : draw.below(n + 1));
  }
  p.x = held<T>(p.x);
  p.g = held<T>(draw.normals(p.rows * levels * n));
  p.dx = held<T>(draw.normals(p.rows * n));
  p.dk = draw.normals(p.rows * levels);
  p.dalpha = draw.normals(p.rows);
  return p;
}

// All that comes of it. Elements are as T holds them.
template <class T>
struct Results {
  std::vector<T> value, gx, tangent, tangent_x;
  std::vector<double> b, gk, galpha;
};

enum class Curve { mask, logarithm };

template <class T>
Results<T> evaluate(const Problem& p, Curve curve, bool plain) {
  const auto elements = [](const std::vector<double>& values) {
    std::vector<T> out;
    for (const double v : values) out.push_back(cpu::Element<T>::round(v));
    return out;
  };
  const std::ptrdiff_t all = p.rows * p.levels;
  Guarded<T> x(elements(p.x)), g(elements(p.g)), dx(elements(p.dx));
  Guarded<T> value(all * p.n), gx(p.rows * p.n), tangent(all * p.n), tangent_x(all * p.n);
  Guarded<double> gk(all), galpha(p.rows);
  std::vector<Threshold> b(static_cast<std::size_t>(all));
  Rows<const T> row(x.data(), p.rows, p.n);
  if (!p.lengths.empty()) row.lengths = p.lengths.data();
  const Levels k = plain ? Levels(p.k[0]) : Levels(p.k.data(), p.levels, p.levels);
  const PerRow alpha = plain ? PerRow(p.alpha[0]) : PerRow(p.alpha.data());
  const Rows<const T> along(dx.data(), p.rows, p.n), given(g.data(), all, p.n);
  const auto out = [&](Guarded<T>& of) { return Rows<T>(of.data(), all, p.n); };
  const Rows<T> to(gx.data(), p.rows, p.n);
  const auto run = [&](auto mask, auto vjp, auto jvp) {
    mask(row, k, alpha, out(value), b.data(), p.order, 1);
    vjp(row, k, alpha, b.data(), given, to, gk.data(), galpha.data(), p.order, 1);
    jvp(row, k, alpha, b.data(), along, p.dk.data(), p.dalpha.data(), out(tangent), p.order, 1);
    jvp(row, k, alpha, nullptr, along, nullptr, nullptr, out(tangent_x), p.order, 1);
  };
  if (curve == Curve::mask) {
    run(soft_topk<T>, soft_topk_vjp<T>, soft_topk_jvp<T>);
  } else {
    run(log_soft_topk<T>, log_soft_topk_vjp<T>, log_soft_topk_jvp<T>);
  }
  std::vector<double> flat;
  for (const Threshold& t : b) flat.insert(flat.end(), {t.anchor, t.offset});
  return {value.copy(), gx.copy(), tangent.copy(), tangent_x.copy(),
          flat,         gk.copy(), galpha.copy()};
}

template <class T>
testing::AssertionResult are_rounded(const std::vector<T>& got, const std::vector<float>& wide) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const T want = cpu::narrow<T>(wide[i]);
    const bool nan = std::isnan(wide[i]) && std::isnan(cpu::to_work(got[i]));
    if (got[i].bits != want.bits && !nan) {
      return testing::AssertionFailure() << "got " << cpu::to_work(got[i]) << " at " << i
                                         << ", not " << cpu::to_work(want) << " for " << wide[i];
    }
  }
  return testing::AssertionSuccess();
}

template <class T>
class Halves : public testing::Test {
 public:
  static void expect(const Problem& p, bool plain) {
    for (const Curve curve : {Curve::mask, Curve::logarithm}) {
      SCOPED_TRACE(curve == Curve::mask ? "soft_topk" : "log_soft_topk");
      const Results<T> got = evaluate<T>(p, curve, plain);
      const Results<float> want = evaluate<float>(p, curve, plain);
      ASSERT_TRUE(are_rounded(got.value, want.value)) << "value";
      ASSERT_TRUE(are_rounded(got.gx, want.gx)) << "gx";
      ASSERT_TRUE(are_rounded(got.tangent, want.tangent)) << "tangent";
      ASSERT_TRUE(are_rounded(got.tangent_x, want.tangent_x)) << "tangent along x";
      ASSERT_TRUE(test::same_bits(got.b, want.b)) << "thresholds";
      ASSERT_TRUE(test::same_bits(got.gk, want.gk)) << "gk";
      ASSERT_TRUE(test::same_bits(got.galpha, want.galpha)) << "galpha";
    }
  }

  // body(family) for all of them.
  template <class Body>
  static void for_each_family(Body&& body) {
    const auto on = [&](const test::Family& family) {
      SCOPED_TRACE(family.name);
      body(family);
    };
    for (const test::Family& family : test::kFamilies) on(family);
    for (const test::Family& family : kMore) on(family);
  }
};
using Types = testing::Types<Half, Bfloat16>;
TYPED_TEST_SUITE(Halves, Types);

TYPED_TEST(Halves, are_rounded_floats) {
  test::for_each_target([&] {
    this->for_each_family([&](const test::Family& family) {
      for (const std::ptrdiff_t n : {1, 2, 7, 33, 200, 512, 513, 1100}) {
        for (const double alpha : {1e-4, 0.3, 300.0}) {
          SCOPED_TRACE(testing::Message() << "n = " << n << ", alpha = " << alpha);
          const Order order = n % 2 ? Order::ascending : Order::descending;
          this->expect(make<TypeParam>(family, n, 3, alpha, order, false), false);
        }
      }
      this->expect(make<TypeParam>(family, cpu::kChunk + 4321, 2, 0.05, Order::descending, false),
                   false);
    });
  });
}

TYPED_TEST(Halves, with_plain_numbers_and_of_extreme_softness) {
  test::for_each_target([&] {
    this->for_each_family([&](const test::Family& family) {
      for (const std::ptrdiff_t n : {100, 700}) {
        for (const double alpha : {1e-300, 1e-30, 0.5, 1e30, 1e300}) {
          SCOPED_TRACE(testing::Message() << "n = " << n << ", alpha = " << alpha);
          this->expect(make<TypeParam>(family, n, 1, alpha, Order::descending, false), true);
        }
      }
    });
  });
}

TYPED_TEST(Halves, of_ragged_batches) {
  test::for_each_target([&] {
    this->for_each_family([&](const test::Family& family) {
      for (const std::ptrdiff_t n : {9, 600}) {
        SCOPED_TRACE(testing::Message() << "n = " << n);
        this->expect(make<TypeParam>(family, n, 2, 0.1, Order::descending, true), false);
      }
    });
  });
}

// Large gradients are cut to the largest number of the half type, not to that of float.
TYPED_TEST(Halves, keep_finite_what_is_finite) {
  const auto element = [](double v) { return cpu::Element<TypeParam>::round(v); };
  const std::vector<TypeParam> x = {element(0), element(1), element(2)};
  const std::vector<TypeParam> g = {element(0), element(cpu::Element<TypeParam>::kMax), element(0)};
  std::vector<TypeParam> gx(3);
  test::for_each_target([&] {
    soft_topk_vjp<TypeParam>({x.data(), 1, 3}, 1.5, 1e-3, nullptr, {g.data(), 1, 3},
                             {gx.data(), 1, 3}, nullptr, nullptr);
    for (const TypeParam v : gx) EXPECT_TRUE(std::isfinite(cpu::to_work(v)));
  });
}

}  // namespace
}  // namespace lapsum
