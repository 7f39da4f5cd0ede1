// An operation on one row by its definition in long double, with all derivatives, and what the
// table of tolerances allows to differ from it.
#pragma once

#include <gtest/gtest.h>

#include "batch.h"
#include "tolerances.h"

namespace lapsum::test {

// One row, and the factors of its tolerances.
template <class T>
class Row {
 public:
  Row(const Operation<T>& op, const Batch& row)
      : op_(op), batch_(row), sign_(op.ordered && row.order == Order::descending ? -1 : 1) {}

  std::size_t inputs() const {
    return batch_.x.size() + batch_.second.size() + batch_.weights.size() + 1;
  }

  Factors factors(Real y) const {
    const Real alpha = std::abs(batch_.alpha[0]);
    Real nearest = INFINITY;
    for (std::size_t i = 0; i < batch_.x.size(); ++i) {
      if (weight(i) > 0) nearest = std::min(nearest, std::abs(y - batch_.x[i]));
    }
    return {{"n", batch_.n},
            {"sum|w|", std::accumulate(batch_.weights.begin(), batch_.weights.end(), Real{0})},
            {"1/alpha", 1 / alpha},
            {"1+y", 1 + std::abs(y)},
            {"near", std::abs(y) + nearest + alpha},
            {"max|v|", largest(batch_.second)}};
  }

  /// How crowded the row is, and how far the thresholds are from their nearest elements: what the
  /// factors of derivatives are made of.
  void survey() {
    for (const Real crowd : op_.weighted ? weighted_crowds() : crowds()) {
      crowd_ = std::max(crowd_, crowd);
      crowds_ += crowd;
    }
    if (!op_.has_levels()) return;
    if (op_.kind == Second::quantiles) {
      unit_ = 0;
      for (std::size_t i = 0; i < batch_.x.size(); ++i) unit_ += weight(i);
    }
    const Arguments<Real> a = at<Real>(std::vector<Real>(inputs(), 0));
    for (const Real k : a.second) {
      farthest_ =
          std::max(farthest_, std::abs(reference::root(a.x, unit_ * k, a.alpha, a.weights).z));
    }
  }

  /// Factors of a derivative: `given` is what it is applied to, `size` what the absolute Jacobian
  /// makes of |given|.
  Factors factors(const std::vector<double>& given, Real size) const {
    Factors out = factors(Real{0});
    Real sum = 0;
    for (const double v : given) sum += std::abs(Real(v));
    out.insert({{"max|g|", largest(given)}, {"sum|g|", sum}, {"J|g|", size}});
    out.insert({{"D", crowd_}, {"sum(D)", crowds_}, {"z", 1 + farthest_}, {"L", steepest_}});
    return out;
  }

 protected:
  template <class S>
  Arguments<S> at(const std::vector<Real>& slopes) const {
    const auto number = [&](double v, std::size_t c) {
      if constexpr (std::is_same_v<S, Dual>) return Dual(v, slopes[c]);
      return S(static_cast<Real>(v));
    };
    Arguments<S> out{{}, {}, S(sign_) * number(batch_.alpha[0], inputs() - 1)};
    for (std::size_t i = 0; i < batch_.x.size(); ++i) out.x.push_back(number(batch_.x[i], i));
    for (std::size_t i = 0; i < batch_.second.size(); ++i) {
      out.second.push_back(number(batch_.second[i], batch_.x.size() + i));
    }
    for (std::size_t i = 0; i < batch_.weights.size(); ++i) {
      const std::size_t before = batch_.x.size() + batch_.second.size();
      out.weights.push_back(number(batch_.weights[i], before + i));
    }
    return out;
  }

  const Operation<T>& op_;
  Batch batch_;
  Real steepest_ = 0;
  Real unit_ = 1;  // what a level counts

 private:
  Real weight(std::size_t i) const { return batch_.weights.empty() ? 1 : batch_.weights[i]; }

  // Sums of e^-|z| at the elements, for rows of any length.
  std::vector<Real> crowds() const {
    std::vector<Real> r;
    for (const double x : batch_.x) {
      if (std::isfinite(x)) r.push_back(Real(x) / std::abs(Real(batch_.alpha[0])));
    }
    std::sort(r.begin(), r.end());
    std::vector<Real> here(r.size(), 1);
    for (int side = 0; side < 2; ++side) {
      Real before = 0;
      for (std::size_t j = 0; j < r.size(); ++j) {
        if (j > 0) before = (before + 1) * std::exp(r[j - 1] - r[j]);
        here[side == 0 ? j : r.size() - 1 - j] += before;
      }
      std::reverse(r.begin(), r.end());
      for (Real& v : r) v = -v;
    }
    return here;
  }

  std::vector<Real> weighted_crowds() const {
    std::vector<Real> here(batch_.x.size(), 0);
    for (std::size_t i = 0; i < here.size(); ++i) {
      for (std::size_t l = 0; l < here.size(); ++l) {
        const Real z = std::abs((Real(batch_.x[i]) - batch_.x[l]) / batch_.alpha[0]);
        here[i] += (weight(i) + weight(l)) * (1 + z) * std::exp(-z);
      }
    }
    return here;
  }

  static Real largest(const std::vector<double>& values) {
    Real out = 0;
    for (const double v : values) out = std::max(out, std::abs(Real(v)));
    return out;
  }

  Real sign_;
  Real crowd_ = 0, crowds_ = 0, farthest_ = 0;
};

// One row with its exact value and Jacobian.
template <class T>
class Exact : public Row<T> {
 public:
  Exact(const Operation<T>& op, const Batch& row)
      : Row<T>(op, row), value_(op.define(this->template at<Real>(no_slopes()))) {}

  void differentiate() {
    this->survey();
    for (std::size_t c = 0; c < this->inputs(); ++c) {
      std::vector<Real> slopes = no_slopes();
      slopes[c] = 1;
      jacobian_.push_back({});
      for (const Dual& y : this->op_.differentiate(this->template at<Dual>(slopes))) {
        jacobian_[c].push_back(y.slope);
      }
      const std::size_t n = this->batch_.x.size();
      if (!this->op_.has_levels() || c < n || c >= n + this->batch_.second.size()) continue;
      for (const Real slope : jacobian_[c]) {
        this->steepest_ = std::max(this->steepest_, std::abs(slope) / this->unit_);
      }
    }
  }

  const std::vector<Real>& value() const { return value_; }
  /// d output t / d input c; inputs are x, the second argument, weights and alpha, in that order.
  Real slope(std::size_t t, std::size_t c) const { return jacobian_[c][t]; }

 private:
  std::vector<Real> no_slopes() const { return std::vector<Real>(this->inputs(), 0); }

  std::vector<Real> value_;
  std::vector<std::vector<Real>> jacobian_;
};

// Inputs [begin, end) of an Exact: an argument, its name in the table, and its direction.
struct Argument {
  std::string quantity;
  std::size_t begin, end;
  std::vector<double> gradient, direction;
};

template <class T>
std::vector<Argument> arguments_of(const Operation<T>& op, const Batch& row, const Results& got) {
  const std::size_t n = row.x.size();
  const std::size_t both = n + row.second.size();
  const std::size_t all = both + row.weights.size();
  std::vector<Argument> out = {{"grad_" + op.x, 0, n, got.gx, row.dx},
                               {"grad_alpha", all, all + 1, got.galpha, row.dalpha}};
  if (op.kind != Second::none) {
    out.push_back({"grad_" + op.second, n, both, got.gsecond, row.dsecond});
  }
  if (op.weighted) {
    out.push_back({"grad_weights", both, all, got.gweights, row.dweights});
  }
  return out;
}

template <class T>
void expect_value(const Operation<T>& op, const Exact<T>& exact, const Results& got) {
  ASSERT_EQ(got.value.size(), exact.value().size());
  for (std::size_t t = 0; t < got.value.size(); ++t) {
    const Real want = exact.value()[t];
    ASSERT_TRUE(
        within(got.value[t], want, allowed(op.name, kDtype<T>, "value", exact.factors(want))))
        << "output " << t;
  }
}

template <class T>
void expect_derivatives(const Operation<T>& op, const Exact<T>& exact, const Batch& row,
                        const Results& got) {
  std::vector<Real> tangent(got.value.size(), 0), limit(got.value.size(), 0);
  for (const Argument& argument : arguments_of(op, row, got)) {
    const auto allow = [&](const std::vector<double>& given, Real size) {
      return allowed(op.name, kDtype<T>, argument.quantity, exact.factors(given, size));
    };
    for (std::size_t c = argument.begin; c < argument.end; ++c) {
      Real want = 0, size = 0;
      for (std::size_t t = 0; t < got.value.size(); ++t) {
        want += row.g[t] * exact.slope(t, c);
        size += std::abs(row.g[t] * exact.slope(t, c));
      }
      ASSERT_TRUE(within(argument.gradient[c - argument.begin], want, allow(row.g, size)))
          << argument.quantity << " " << c - argument.begin;
    }
    for (std::size_t t = 0; t < got.value.size(); ++t) {
      Real size = 0;
      for (std::size_t c = argument.begin; c < argument.end; ++c) {
        const Real term = exact.slope(t, c) * argument.direction[c - argument.begin];
        tangent[t] += term;
        size += std::abs(term);
      }
      limit[t] += allow(argument.direction, size);
    }
  }
  for (std::size_t t = 0; t < got.value.size(); ++t) {
    ASSERT_TRUE(within(got.tangent[t], tangent[t], limit[t])) << "tangent " << t;
  }
}

}  // namespace lapsum::test
