// Every public operation behind one face: a row x, a second argument (points, levels or values),
// alpha, and weights of the elements for those that take them. Each comes with its definition, so that a test written once runs on all of them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lapsum/lapsum.h"
#include "reference.h"

namespace lapsum::test {

using reference::Dual;
using reference::Real;

/// Views of a batch. Points and values are read from `second`, levels from `levels`.
template <class T>
struct Call {
  Rows<const T> x, second;
  Levels levels;
  PerRow alpha;
  Order order;
  Threads threads;
  Rows<const T> weights{};
};

/// Derivatives in the arguments; those left out have no data.
template <class T>
struct Tangents {
  Rows<const T> x, second;
  const double* levels;
  const double* alpha;
  Rows<const T> weights{};
};
template <class T>
struct Gradients {
  Rows<T> x, second;
  double* levels;
  double* alpha;
  Rows<T> weights{};
};

/// A row of output is `blocks` rows of `length`.
struct Shape {
  std::ptrdiff_t blocks, length;
};

/// The arguments of a definition. alpha is signed: a descending order is folded into it.
template <class S>
struct Arguments {
  std::vector<S> x, second;
  S alpha;
  std::vector<S> weights{};  ///< none are ones

  S weight(std::size_t i) const { return weights.empty() ? S(1) : weights[i]; }
};

enum class Second { none, points, levels, quantiles, values };

inline constexpr std::ptrdiff_t kColumns = 2;  // of the values that are permuted

template <class T>
struct Operation {
  const char* name;
  std::string x, second, out;  ///< how the arguments are called; derivatives are g... and d...
  Second kind;
  bool ordered;
  Shape (*shape)(std::ptrdiff_t n, std::ptrdiff_t seconds);
  void (*value)(const Call<T>&, Rows<T> out);
  void (*vjp)(const Call<T>&, Rows<const T> g, const Gradients<T>&);
  void (*jvp)(const Call<T>&, const Tangents<T>&, Rows<T> out);
  std::vector<Real> (*define)(const Arguments<Real>&);
  std::vector<Dual> (*differentiate)(const Arguments<Dual>&);
  bool weighted = false;

  bool has_levels() const { return kind == Second::levels || kind == Second::quantiles; }
  bool has_view() const { return kind == Second::points || kind == Second::values; }
};

template <class S>
std::vector<S> define_lap_sum(const Arguments<S>& a) {
  std::vector<S> y;
  for (const S& x : a.second) y.push_back(reference::lap_sum(a.x, x, a.alpha));
  return y;
}

template <class S>
std::vector<S> define_inverse(const Arguments<S>& a) {
  std::vector<S> b;
  for (const S& k : a.second) b.push_back(reference::root(a.x, k, a.alpha, a.weights).at(a.alpha));
  return b;
}

template <class S>
std::vector<S> define_quantile(const Arguments<S>& a) {
  Arguments<S> levels = a;
  S whole(0);
  for (std::size_t i = 0; i < a.x.size(); ++i) whole = whole + a.weight(i);
  for (S& q : levels.second) q = q * whole;
  return define_inverse(levels);
}

template <class S>
std::vector<S> define_rank(const Arguments<S>& a) {
  std::vector<S> rank(a.x.size(), S(0));
  for (std::size_t j = 0; j < a.x.size(); ++j) {
    for (std::size_t l = 0; l < a.x.size(); ++l) {
      if (l == j) continue;
      rank[j] = rank[j] + a.weight(l) * reference::cdf((a.x[j] - a.x[l]) / a.alpha);
    }
  }
  return rank;
}

template <class S>
std::vector<S> define_sort(const Arguments<S>& a) {
  Arguments<S> levels = a;
  for (std::size_t l = 0; l < a.x.size(); ++l) levels.second.push_back(S(Real(l) + Real(0.5)));
  return define_inverse(levels);
}

template <class S, S (*F)(S)>
std::vector<S> define_mask(const Arguments<S>& a) {
  std::vector<S> p;
  for (const S& k : a.second) {
    const reference::Root<S> b = reference::root(a.x, k, a.alpha, a.weights);
    for (const S& x : a.x) p.push_back(F(b.from(x, a.alpha)));
  }
  return p;
}

template <class S>
std::vector<S> define_permutation(const Arguments<S>& a) {
  return reference::soft_permutation(a.x, a.alpha);
}

template <class S, Apply apply>
std::vector<S> define_permute(const Arguments<S>& a) {
  const std::size_t n = a.x.size();
  const std::vector<S> matrix = define_permutation(a);
  std::vector<S> out(kColumns * n, S(0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const S& p = matrix[apply == Apply::permutation ? i * n + j : j * n + i];
      for (std::size_t c = 0; c < kColumns; ++c) {
        out[i * kColumns + c] = out[i * kColumns + c] + p * a.second[j * kColumns + c];
      }
    }
  }
  return out;
}

template <class T, Apply apply>
Operation<T> permute_operation() {
  return {"soft_permute",
          "x",
          "values",
          "out",
          Second::values,
          true,
          [](std::ptrdiff_t n, std::ptrdiff_t) { return Shape{1, kColumns * n}; },
          [](const Call<T>& c, Rows<T> out) {
            soft_permute(c.x, c.second, kColumns, c.alpha, out, apply, c.order, c.threads);
          },
          [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
            soft_permute_vjp(c.x, c.second, kColumns, c.alpha, g, to.x, to.second, to.alpha, apply,
                             c.order, c.threads);
          },
          [](const Call<T>& c, const Tangents<T>& d, Rows<T> out) {
            soft_permute_jvp(c.x, c.second, kColumns, c.alpha, d.x, d.second, d.alpha, out, apply,
                             c.order, c.threads);
          },
          define_permute<Real, apply>,
          define_permute<Dual, apply>};
}

template <class T>
const std::vector<Operation<T>>& operations() {
  constexpr auto per_second = [](std::ptrdiff_t, std::ptrdiff_t seconds) {
    return Shape{1, seconds};
  };
  constexpr auto per_element = [](std::ptrdiff_t n, std::ptrdiff_t) { return Shape{1, n}; };
  constexpr auto per_both = [](std::ptrdiff_t n, std::ptrdiff_t seconds) {
    return Shape{seconds, n};
  };
  constexpr auto squared = [](std::ptrdiff_t n, std::ptrdiff_t) { return Shape{1, n * n}; };
  static const std::vector<Operation<T>> all = {
      {"lap_sum", "r", "x", "y", Second::points, false, per_second,
       [](const Call<T>& c, Rows<T> y) { lap_sum(c.x, c.second, c.alpha, y, c.threads); },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         lap_sum_vjp(c.x, c.second, c.alpha, g, to.x, to.second, to.alpha, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> y) {
         lap_sum_jvp(c.x, c.second, c.alpha, d.x, d.second, d.alpha, y, c.threads);
       },
       define_lap_sum<Real>, define_lap_sum<Dual>},
      {"lap_sum_inverse", "r", "k", "b", Second::levels, false, per_second,
       [](const Call<T>& c, Rows<T> b) { lap_sum_inverse(c.x, c.levels, c.alpha, b, c.threads); },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         lap_sum_inverse_vjp(c.x, c.levels, c.alpha, g, to.x, to.levels, to.alpha, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> b) {
         lap_sum_inverse_jvp(c.x, c.levels, c.alpha, d.x, d.levels, d.alpha, b, c.threads);
       },
       define_inverse<Real>, define_inverse<Dual>},
      {"soft_kth_value", "x", "k", "b", Second::levels, true, per_second,
       [](const Call<T>& c, Rows<T> b) {
         soft_kth_value(c.x, c.levels, c.alpha, b, c.order, c.threads);
       },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         soft_kth_value_vjp(c.x, c.levels, c.alpha, g, to.x, to.levels, to.alpha, c.order,
                            c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> b) {
         soft_kth_value_jvp(c.x, c.levels, c.alpha, d.x, d.levels, d.alpha, b, c.order, c.threads);
       },
       define_inverse<Real>, define_inverse<Dual>},
      {"soft_quantile", "x", "q", "b", Second::quantiles, false, per_second,
       [](const Call<T>& c, Rows<T> b) { soft_quantile(c.x, c.levels, c.alpha, b, c.threads); },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         soft_quantile_vjp(c.x, c.levels, c.alpha, g, to.x, to.levels, to.alpha, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> b) {
         soft_quantile_jvp(c.x, c.levels, c.alpha, d.x, d.levels, d.alpha, b, c.threads);
       },
       define_quantile<Real>, define_quantile<Dual>},
      {"soft_rank", "x", "", "rank", Second::none, true, per_element,
       [](const Call<T>& c, Rows<T> y) { soft_rank(c.x, c.alpha, y, c.order, c.threads); },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         soft_rank_vjp(c.x, c.alpha, g, to.x, to.alpha, c.order, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> y) {
         soft_rank_jvp(c.x, c.alpha, d.x, d.alpha, y, c.order, c.threads);
       },
       define_rank<Real>, define_rank<Dual>},
      {"soft_sort", "x", "", "sorted", Second::none, true, per_element,
       [](const Call<T>& c, Rows<T> y) { soft_sort(c.x, c.alpha, y, c.order, c.threads); },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         soft_sort_vjp(c.x, c.alpha, g, to.x, to.alpha, c.order, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> y) {
         soft_sort_jvp(c.x, c.alpha, d.x, d.alpha, y, c.order, c.threads);
       },
       define_sort<Real>, define_sort<Dual>},
      {"soft_topk", "x", "k", "p", Second::levels, true, per_both,
       [](const Call<T>& c, Rows<T> p) {
         soft_topk(c.x, c.levels, c.alpha, p, nullptr, c.order, c.threads);
       },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         soft_topk_vjp(c.x, c.levels, c.alpha, nullptr, g, to.x, to.levels, to.alpha, c.order,
                       c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> p) {
         soft_topk_jvp(c.x, c.levels, c.alpha, nullptr, d.x, d.levels, d.alpha, p, c.order,
                       c.threads);
       },
       define_mask<Real, reference::cdf>, define_mask<Dual, reference::cdf>},
      {"log_soft_topk", "x", "k", "logp", Second::levels, true, per_both,
       [](const Call<T>& c, Rows<T> p) {
         log_soft_topk(c.x, c.levels, c.alpha, p, nullptr, c.order, c.threads);
       },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         log_soft_topk_vjp(c.x, c.levels, c.alpha, nullptr, g, to.x, to.levels, to.alpha, c.order,
                           c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> p) {
         log_soft_topk_jvp(c.x, c.levels, c.alpha, nullptr, d.x, d.levels, d.alpha, p, c.order,
                           c.threads);
       },
       define_mask<Real, reference::log_cdf>, define_mask<Dual, reference::log_cdf>},
      {"soft_permutation", "x", "", "matrix", Second::none, true, squared,
       [](const Call<T>& c, Rows<T> y) { soft_permutation(c.x, c.alpha, y, c.order, c.threads); },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         soft_permutation_vjp(c.x, c.alpha, g, to.x, to.alpha, c.order, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> y) {
         soft_permutation_jvp(c.x, c.alpha, d.x, d.alpha, y, c.order, c.threads);
       },
       define_permutation<Real>, define_permutation<Dual>},
      permute_operation<T, Apply::permutation>(),
      permute_operation<T, Apply::transpose>(),
      {"weighted_lap_sum_inverse", "r", "k", "b", Second::levels, false, per_second,
       [](const Call<T>& c, Rows<T> b) {
         weighted_lap_sum_inverse(c.x, c.weights, c.levels, c.alpha, b, c.threads);
       },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         weighted_lap_sum_inverse_vjp(c.x, c.weights, c.levels, c.alpha, g, to.x, to.weights,
                                      to.levels, to.alpha, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> b) {
         weighted_lap_sum_inverse_jvp(c.x, c.weights, c.levels, c.alpha, d.x, d.weights, d.levels,
                                      d.alpha, b, c.threads);
       },
       define_inverse<Real>, define_inverse<Dual>, true},
      {"weighted_soft_kth_value", "x", "k", "b", Second::levels, true, per_second,
       [](const Call<T>& c, Rows<T> b) {
         weighted_soft_kth_value(c.x, c.weights, c.levels, c.alpha, b, c.order, c.threads);
       },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         weighted_soft_kth_value_vjp(c.x, c.weights, c.levels, c.alpha, g, to.x, to.weights,
                                     to.levels, to.alpha, c.order, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> b) {
         weighted_soft_kth_value_jvp(c.x, c.weights, c.levels, c.alpha, d.x, d.weights, d.levels,
                                     d.alpha, b, c.order, c.threads);
       },
       define_inverse<Real>, define_inverse<Dual>, true},
      {"weighted_soft_quantile", "x", "q", "b", Second::quantiles, false, per_second,
       [](const Call<T>& c, Rows<T> b) {
         weighted_soft_quantile(c.x, c.weights, c.levels, c.alpha, b, c.threads);
       },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         weighted_soft_quantile_vjp(c.x, c.weights, c.levels, c.alpha, g, to.x, to.weights,
                                    to.levels, to.alpha, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> b) {
         weighted_soft_quantile_jvp(c.x, c.weights, c.levels, c.alpha, d.x, d.weights, d.levels,
                                    d.alpha, b, c.threads);
       },
       define_quantile<Real>, define_quantile<Dual>, true},
      {"weighted_soft_rank", "x", "", "rank", Second::none, true, per_element,
       [](const Call<T>& c, Rows<T> y) {
         weighted_soft_rank(c.x, c.weights, c.alpha, y, c.order, c.threads);
       },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         weighted_soft_rank_vjp(c.x, c.weights, c.alpha, g, to.x, to.weights, to.alpha, c.order,
                                c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> y) {
         weighted_soft_rank_jvp(c.x, c.weights, c.alpha, d.x, d.weights, d.alpha, y, c.order,
                                c.threads);
       },
       define_rank<Real>, define_rank<Dual>, true},
      {"weighted_soft_topk", "x", "k", "p", Second::levels, true, per_both,
       [](const Call<T>& c, Rows<T> p) {
         weighted_soft_topk(c.x, c.weights, c.levels, c.alpha, p, nullptr, c.order, c.threads);
       },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         weighted_soft_topk_vjp(c.x, c.weights, c.levels, c.alpha, nullptr, g, to.x, to.weights,
                                to.levels, to.alpha, c.order, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> p) {
         weighted_soft_topk_jvp(c.x, c.weights, c.levels, c.alpha, nullptr, d.x, d.weights,
                                d.levels, d.alpha, p, c.order, c.threads);
       },
       define_mask<Real, reference::cdf>, define_mask<Dual, reference::cdf>, true},
      {"weighted_log_soft_topk", "x", "k", "logp", Second::levels, true, per_both,
       [](const Call<T>& c, Rows<T> p) {
         weighted_log_soft_topk(c.x, c.weights, c.levels, c.alpha, p, nullptr, c.order, c.threads);
       },
       [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
         weighted_log_soft_topk_vjp(c.x, c.weights, c.levels, c.alpha, nullptr, g, to.x, to.weights,
                                    to.levels, to.alpha, c.order, c.threads);
       },
       [](const Call<T>& c, const Tangents<T>& d, Rows<T> p) {
         weighted_log_soft_topk_jvp(c.x, c.weights, c.levels, c.alpha, nullptr, d.x, d.weights,
                                    d.levels, d.alpha, p, c.order, c.threads);
       },
       define_mask<Real, reference::log_cdf>, define_mask<Dual, reference::log_cdf>, true}};
  return all;
}

template <class T>
const Operation<T>& operation(std::string_view name) {
  return *std::find_if(operations<T>().begin(), operations<T>().end(),
                       [&](const Operation<T>& op) { return op.name == name; });
}

}  // namespace lapsum::test
