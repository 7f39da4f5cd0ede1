// The soft permutation as an operator against its dense definition: products, double
// stochasticity, and the transpose as adjoint.
#include <gtest/gtest.h>

#include "bits.h"
#include "cpu/primitives/permutation.h"
#include "families.h"
#include "reference.h"
#include "targets.h"
#include "tolerances.h"

namespace lapsum::cpu {
namespace {

using reference::Real;
using test::allowed;
using test::Draw;
using test::within;

// A sorted row with its operator.
struct Operator {
  Arena arena;
  SortedRow row;
  Permutation p;

  Operator(const std::vector<double>& x, double alpha, int threads)
      : row(sort_row(x.data(), std::ssize(x), Orientation(alpha, Order::ascending), Need::order,
                     arena, threads)),
        p(row.decays, permutation_roots(row, arena, threads), arena, threads) {}

  std::vector<double> apply(const std::vector<double>& v, int threads = 1) {
    const std::span<double> out = p.apply(v, arena, threads);
    return {out.begin(), out.end()};
  }
  std::vector<double> transpose(const std::vector<double>& u, int threads = 1) {
    const std::span<double> out = p.apply_transpose(u, arena, threads);
    return {out.begin(), out.end()};
  }
};

Real limit_of(const std::vector<double>& v) {
  Real largest = 0;
  for (const double e : v) largest = std::max(largest, std::abs(Real(e)));
  return allowed("permutation", "float64", "value",
                 {{"n", static_cast<Real>(v.size())}, {"max|v|", largest}});
}

void expect_stochastic(Operator& op, std::ptrdiff_t n) {
  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  const Real limit = limit_of(ones);
  for (const double sum : op.apply(ones, 2)) ASSERT_TRUE(within(sum, 1, limit)) << "a row";
  for (const double sum : op.transpose(ones, 2)) ASSERT_TRUE(within(sum, 1, limit)) << "a column";
}

void expect_adjoint(Operator& op, std::ptrdiff_t n) {
  Draw draw(2);
  const std::vector<double> u = draw.normals(n);
  const std::vector<double> v = draw.normals(n);
  const std::vector<double> pv = op.apply(v, 2);
  const std::vector<double> pu = op.transpose(u, 2);
  const Real of_u = limit_of(u);
  const Real of_v = limit_of(v);
  Real there = 0, back = 0, limit = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    there += Real(u[i]) * pv[i];
    back += Real(v[i]) * pu[i];
    limit += std::abs(u[i]) * of_v + std::abs(v[i]) * of_u;
  }
  EXPECT_TRUE(within(there, back, limit)) << "P^T is not the adjoint of P";
}

TEST(Permutation, is_the_dense_matrix) {
  for (const test::Family& family : test::kFamilies) {
    for (const std::ptrdiff_t n : {0, 1, 2, 3, 8, 17, 97}) {
      for (const double alpha : {1e-3, 0.3, 1e3}) {
        SCOPED_TRACE(testing::Message() << family.name << ", n = " << n << ", alpha = " << alpha);
        std::vector<double> x = family.row(n);
        std::sort(x.begin(), x.end());
        const std::vector<Real> p =
            reference::soft_permutation(std::vector<Real>(x.begin(), x.end()), Real(alpha));
        const std::vector<double> v = Draw(1).normals(n);
        const Real limit = limit_of(v);
        test::for_each_target([&] {
          Operator op(x, alpha, 1);
          const std::vector<double> got = op.apply(v);
          const std::vector<double> back = op.transpose(v);
          for (std::size_t i = 0; i < v.size(); ++i) {
            Real want = 0, want_back = 0;
            for (std::size_t j = 0; j < v.size(); ++j) {
              want += p[i * v.size() + j] * v[j];
              want_back += p[j * v.size() + i] * v[j];
            }
            ASSERT_TRUE(within(got[i], want, limit)) << "position " << i;
            ASSERT_TRUE(within(back[i], want_back, limit)) << "element " << i;
          }
          expect_stochastic(op, n);
          expect_adjoint(op, n);
        });
      }
    }
  }
}

TEST(Permutation, of_a_long_row_is_doubly_stochastic_with_the_same_bits_for_any_thread_count) {
  constexpr std::ptrdiff_t kLength = 100003;
  const std::vector<double> v = Draw(4).normals(kLength);
  for (const char* name : {"normal", "ties", "all equal", "clusters", "outlier"}) {
    SCOPED_TRACE(name);
    const std::vector<double> x = test::family(name).row(kLength);
    Operator one(x, 0.05, 1);
    expect_stochastic(one, kLength);
    expect_adjoint(one, kLength);
    for (const int threads : {2, 3}) {
      Operator more(x, 0.05, threads);
      EXPECT_TRUE(test::same_bits(more.apply(v, threads), one.apply(v)));
      EXPECT_TRUE(test::same_bits(more.transpose(v, threads), one.transpose(v)));
    }
  }
}

}  // namespace
}  // namespace lapsum::cpu
