// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_quantile.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "cpu/lap_sum_inverse.h"
#include "instantiate.h"
#include "ops/check.h"

namespace lapsum {

namespace {

// The levels q n, row by row.
class ScaledLevels {
 public:
  ScaledLevels(const Levels& q, std::ptrdiff_t rows, std::ptrdiff_t n) : count_(q.count()) {
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      for (std::ptrdiff_t t = 0; t < count_; ++t) {
        values_.push_back(q[i][t] * static_cast<double>(n));
      }
    }
  }
  Levels levels() const { return {values_.data(), count_, count_}; }

 private:
  std::ptrdiff_t count_;
  std::vector<double> values_;
};

}  // namespace

template <class T>
void soft_quantile(Rows<const T> x, Levels q, PerRow alpha, Rows<T> b, Threads threads) {
  const ops::Check check("soft_quantile", "x", x, alpha, threads);
  check.level("q", q, x.count, 1, "1");
  check.output("b", b, x.count, q.count());
  const ScaledLevels k(q, x.count, x.length);
  cpu::lap_sum_inverse(x, k.levels(), alpha, b, Order::ascending, threads);
}

template <class T>
void soft_quantile_vjp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> g, Rows<T> gx,
                       double* gq, double* galpha, Threads threads) {
  const ops::Check check("soft_quantile_vjp", "x", x, alpha, threads);
  check.level("q", q, x.count, 1, "1");
  check.input("g", g, x.count, q.count());
  check.optional_output("gx", gx, x.count, x.length);
  const ScaledLevels k(q, x.count, x.length);
  cpu::lap_sum_inverse_vjp(x, k.levels(), alpha, g, gx, gq, galpha, Order::ascending, threads);
  for (std::ptrdiff_t t = 0; gq && t < x.count * q.count(); ++t) {
    constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
    gq[t] = std::clamp(gq[t] * static_cast<double>(x.length), -kMax, kMax);
  }
}

template <class T>
void soft_quantile_jvp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> dx, const double* dq,
                       const double* dalpha, Rows<T> db, Threads threads) {
  const ops::Check check("soft_quantile_jvp", "x", x, alpha, threads);
  check.level("q", q, x.count, 1, "1");
  check.optional_input("dx", dx, x.count, x.length);
  check.output("db", db, x.count, q.count());
  const ScaledLevels k(q, x.count, x.length);
  std::vector<double> dk;
  for (std::ptrdiff_t t = 0; dq && t < x.count * q.count(); ++t) {
    dk.push_back(dq[t] * static_cast<double>(x.length));
  }
  cpu::lap_sum_inverse_jvp(x, k.levels(), alpha, dx, dq ? dk.data() : nullptr, dalpha, db,
                           Order::ascending, threads);
}

LAPSUM_INSTANTIATE(soft_quantile)
LAPSUM_INSTANTIATE(soft_quantile_vjp)
LAPSUM_INSTANTIATE(soft_quantile_jvp)

}  // namespace lapsum
