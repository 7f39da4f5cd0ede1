// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_quantile.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "cpu/lap_sum_inverse.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {

namespace {

/// `count` numbers times n. The result is empty where there are none.
std::vector<double> scaled(const double* numbers, std::ptrdiff_t count, std::ptrdiff_t n) {
  std::vector<double> out;
  if (numbers) out.assign(numbers, numbers + count);
  for (double& number : out) number *= static_cast<double>(n);
  return out;
}

/// The levels q n of the rows of a run.
class ScaledLevels {
 public:
  ScaledLevels(const Levels& q, const ops::Run& run) : count_(q.count()) {
    for (std::ptrdiff_t i = 0; i < run.count; ++i) {
      const auto row = scaled(q[run.first + i], count_, run.length);
      values_.insert(values_.end(), row.begin(), row.end());
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
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    const ScaledLevels k(q, run);
    cpu::lap_sum_inverse(run.elements(x), k.levels(), run.numbers(alpha), run.points(b),
                         Order::ascending, inner);
  });
}

template <class T>
void soft_quantile_vjp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> g, Rows<T> gx,
                       double* gq, double* galpha, Threads threads) {
  const ops::Check check("soft_quantile_vjp", "x", x, alpha, threads);
  check.level("q", q, x.count, 1, "1");
  check.input("g", g, x.count, q.count());
  check.optional_output("gx", gx, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    const ScaledLevels k(q, run);
    double* gk = run.numbers(gq, q.count());
    cpu::lap_sum_inverse_vjp(run.elements(x), k.levels(), run.numbers(alpha), run.points(g),
                             run.results(gx), gk, run.numbers(galpha), Order::ascending, inner);
    for (std::ptrdiff_t t = 0; gk && t < run.count * q.count(); ++t) {
      constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
      gk[t] = std::clamp(gk[t] * static_cast<double>(run.length), -kMax, kMax);
    }
  });
}

template <class T>
void soft_quantile_jvp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> dx, const double* dq,
                       const double* dalpha, Rows<T> db, Threads threads) {
  const ops::Check check("soft_quantile_jvp", "x", x, alpha, threads);
  check.level("q", q, x.count, 1, "1");
  check.optional_input("dx", dx, x.count, x.length);
  check.output("db", db, x.count, q.count());
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    const ScaledLevels k(q, run);
    const auto dk = scaled(run.numbers(dq, q.count()), run.count * q.count(), run.length);
    cpu::lap_sum_inverse_jvp(run.elements(x), k.levels(), run.numbers(alpha), run.elements(dx),
                             dq ? dk.data() : nullptr, run.numbers(dalpha), run.points(db),
                             Order::ascending, inner);
  });
}

template <class T>
void weighted_soft_quantile(Rows<const T> x, Rows<const T> weights, Levels q, PerRow alpha,
                            Rows<T> b, Threads threads) {
  const ops::Check check("weighted_soft_quantile", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.level("q", q, x.count, 1, "1");
  check.output("b", b, x.count, q.count());
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_lap_sum_inverse(run.elements(x), run.elements(weights), run.levels(q),
                                  cpu::LevelUnit::share, run.numbers(alpha), run.points(b),
                                  Order::ascending, inner);
  });
}

template <class T>
void weighted_soft_quantile_vjp(Rows<const T> x, Rows<const T> weights, Levels q, PerRow alpha,
                                Rows<const T> g, Rows<T> gx, Rows<T> gweights, double* gq,
                                double* galpha, Threads threads) {
  const ops::Check check("weighted_soft_quantile_vjp", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.level("q", q, x.count, 1, "1");
  check.input("g", g, x.count, q.count());
  check.optional_output("gx", gx, x.count, x.length);
  check.optional_output("gweights", gweights, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_lap_sum_inverse_vjp(
        run.elements(x), run.elements(weights), run.levels(q), cpu::LevelUnit::share,
        run.numbers(alpha), run.points(g), run.results(gx), run.results(gweights),
        run.numbers(gq, q.count()), run.numbers(galpha), Order::ascending, inner);
  });
}

template <class T>
void weighted_soft_quantile_jvp(Rows<const T> x, Rows<const T> weights, Levels q, PerRow alpha,
                                Rows<const T> dx, Rows<const T> dweights, const double* dq,
                                const double* dalpha, Rows<T> db, Threads threads) {
  const ops::Check check("weighted_soft_quantile_jvp", "x", x, alpha, threads);
  check.input("weights", weights, x.count, x.length);
  check.level("q", q, x.count, 1, "1");
  check.optional_input("dx", dx, x.count, x.length);
  check.optional_input("dweights", dweights, x.count, x.length);
  check.output("db", db, x.count, q.count());
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    cpu::weighted_lap_sum_inverse_jvp(run.elements(x), run.elements(weights), run.levels(q),
                                      cpu::LevelUnit::share, run.numbers(alpha), run.elements(dx),
                                      run.elements(dweights), run.numbers(dq, q.count()),
                                      run.numbers(dalpha), run.points(db), Order::ascending, inner);
  });
}

LAPSUM_INSTANTIATE(soft_quantile)
LAPSUM_INSTANTIATE(soft_quantile_vjp)
LAPSUM_INSTANTIATE(soft_quantile_jvp)
LAPSUM_INSTANTIATE(weighted_soft_quantile)
LAPSUM_INSTANTIATE(weighted_soft_quantile_vjp)
LAPSUM_INSTANTIATE(weighted_soft_quantile_jvp)

}  // namespace lapsum
