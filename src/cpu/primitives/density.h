// A row seen from a threshold, from T to T in one pass: the Laplace CDF of its distances, and the
// sums and differences of densities that are its derivatives. With z = (b - sign * x) / alpha, e =
// e^-|z|. Errors are within a few ulp of double, rounded once to T, for half types by way of float;
// e is 0 where that would be denormal. alpha must be plain (bracket.h), thresholds finite.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/primitives/element.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// p = F(z), for any alpha.
template <class T>
void cdf_at(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha, T* p);

/// log F(z), for any alpha; what is finite stays finite.
template <class T>
void log_cdf_at(const T* x, std::ptrdiff_t n, double sign, const Threshold& b, double alpha,
                T* log_p);

/// Which curve is derived: F, whose slope is e up to a factor; or log F, whose slope is u = e / (2 - e)
/// for z > 0, else 1, and 0 for an infinite element.
enum class Curve { cdf, log_cdf };

/// Sums of e and e g, and if wanted of e z and e g z. For log F those with g have u in place of e, and
/// those with z are not there.
struct DensitySums {
  double total = 0, g = 0, z = 0, gz = 0;

  DensitySums& operator+=(const DensitySums& other) {
    total += other.total;
    g += other.g;
    z += other.z;
    gz += other.gz;
    return *this;
  }
};

template <class T>
DensitySums sum_density(const T* x, const T* g, std::ptrdiff_t n, double sign, const Threshold& b,
                        double alpha, bool with_z, Curve curve = Curve::cdf);

/// out = height * sum over levels of e (mean - g), or e mean - u g, cut to T's largest number.
template <class T>
struct Pull {
  Threshold b;
  double mean;
  const T* g;
};
template <class T>
void pull_density(const T* x, std::ptrdiff_t n, double sign, std::span<const Pull<T>> levels,
                  std::ptrdiff_t begin, double alpha, double height, T* out,
                  Curve curve = Curve::cdf);

/// The same of F for one level, in two steps. First e, rounded to the type that rows of T are computed
/// in, to `e` if given, and the sums of e and e g as far as they are known with it: each e is off by
/// 0.62 ulp at most.
template <class T>
DensitySums weigh(const T* x, const T* g, std::ptrdiff_t n, double sign, const Threshold& b,
                  double alpha, Work<T>* e);
/// Then out, which may lie where e does.
template <class T>
void pull_weighed(const Work<T>* e, const T* g, std::ptrdiff_t n, double mean, double height,
                  T* out);

/// One of several short rows that are weighed, or pulled, in one call, T being float or double: one
/// begins while the sums of the one before it are added up.
template <class T>
struct Weighed {
  const T *x, *g;
  T* out;  ///< holds e in between
  double sign, alpha;
  Threshold b;
  DensitySums sums{};
  double mean = 0, height = 0;
};
template <class T>
void weigh_each(std::span<Weighed<T>> rows, std::ptrdiff_t n);
template <class T>
void pull_each(std::span<const Weighed<T>> rows, std::ptrdiff_t n);

}  // namespace lapsum::cpu
