// Gradients of short rows, several at a time: each is that of its row alone, to the last bit,
// whatever its neighbours are. With the gradient in alpha rows go one by one.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "bits.h"
#include "families.h"
#include "guarded.h"
#include "lapsum/soft_topk.h"
#include "targets.h"

namespace lapsum {
namespace {

using test::Guarded;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A row of every family and more, each with every alpha and level: some saturate, some have a sum
// of weights that is too small, some are NaN.
template <class T>
struct Mixed {
  explicit Mixed(std::ptrdiff_t n) {
    const auto add = [&](const std::vector<double>& row) {
      for (const double softness : {1e-4, 0.3, -2.0, 1e-300, kNaN}) {
        for (const double level : {0.0, 1.0, 0.4 * double(n), double(n), 0.5 * double(n)}) {
          x.insert(x.end(), row.begin(), row.end());
          alpha.push_back(softness);
          k.push_back(level);
        }
      }
    };
    for (const test::Family& family : test::kFamilies) add(family.row(n));
    std::vector<double> row = test::kFamilies[0].row(n);
    row[0] = kInf;
    row[row.size() / 2] = -kInf;
    add(row);
    row[0] = kNaN;
    add(row);
    const std::vector<double> drawn = test::Draw(5).normals(std::ssize(x));
    g.assign(drawn.begin(), drawn.end());
  }

  std::vector<T> x, g;
  std::vector<double> k, alpha;
};

template <class T>
class PulledRows : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PulledRows, Types);

TYPED_TEST(PulledRows, are_as_exact_together_as_alone) {
  using T = TypeParam;
  for (const std::ptrdiff_t n : {1, 2, 7, 16, 33, 64, 512}) {
    SCOPED_TRACE(testing::Message() << "n = " << n);
    const Mixed<T> batch(n);
    const std::ptrdiff_t rows = std::ssize(batch.k);
    test::for_each_target([&] {
      Guarded<T> x(batch.x), g(batch.g), gx(x.size()), want(x.size()), p(x.size());
      Guarded<double> gk(rows), want_k(rows), galpha(rows);
      std::vector<Threshold> b(batch.k.size());
      const Rows<const T> from(x.data(), rows, n), given(g.data(), rows, n);
      const Levels k(batch.k.data(), 1, 1);
      const PerRow alpha(batch.alpha.data());
      soft_topk<T>(from, k, alpha, Rows<T>(p.data(), rows, n), b.data());
      soft_topk_vjp<T>(from, k, alpha, b.data(), given, Rows<T>(want.data(), rows, n),
                       want_k.data(), galpha.data());
      soft_topk_vjp<T>(from, k, alpha, b.data(), given, Rows<T>(gx.data(), rows, n), gk.data(),
                       nullptr);
      EXPECT_TRUE(test::same_bits(gx.copy(), want.copy()));
      EXPECT_TRUE(test::same_bits(gk.copy(), want_k.copy()));
    });
  }
}

}  // namespace
}  // namespace lapsum
