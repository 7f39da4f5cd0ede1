// Checks arguments, then runs on the device that holds them.
#include "lapsum/soft_permutation.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "cpu/soft_permutation.h"
#include "instantiate.h"
#include "ops/check.h"
#include "ops/ragged.h"

namespace lapsum {
namespace {

/// The matrices of a run: those of the batch where its rows are whole; else in memory of their own,
/// copied from the corners of the batch's, or to them on leaving.
template <class T>
class Corners {
 public:
  Corners(const ops::Run& run, Rows<T> matrices) : run_(run), all_(run.points(matrices)) {
    if (whole()) return;
    own_.resize(static_cast<std::size_t>(run.count * run.length * run.length));
    if constexpr (std::is_const_v<T>) {
      for_each_line([](T* from, auto* to, std::ptrdiff_t n) { std::copy_n(from, n, to); });
    }
  }
  ~Corners() {
    if (whole()) return;
    if constexpr (!std::is_const_v<T>) {
      for (std::ptrdiff_t i = 0; i < run_.count; ++i) std::fill_n(all_[i], all_.length, T(0));
      for_each_line([](T* to, auto* from, std::ptrdiff_t n) { std::copy_n(from, n, to); });
    }
  }
  Corners(const Corners&) = delete;
  Corners& operator=(const Corners&) = delete;

  Rows<T> rows() {
    return whole() ? all_ : Rows<T>(own_.data(), run_.count, run_.length * run_.length);
  }

 private:
  bool whole() const { return run_.length == run_.width; }

  template <class Copy>
  void for_each_line(Copy&& copy) {
    for (std::ptrdiff_t i = 0; i < run_.count; ++i) {
      for (std::ptrdiff_t j = 0; j < run_.length; ++j) {
        copy(all_[i] + j * run_.width, own_.data() + (i * run_.length + j) * run_.length,
             run_.length);
      }
    }
  }

  const ops::Run& run_;
  Rows<T> all_;
  std::vector<std::remove_const_t<T>> own_;
};

}  // namespace

template <class T>
void soft_permutation(Rows<const T> x, PerRow alpha, Rows<T> matrix, Order order, Threads threads) {
  const ops::Check check("soft_permutation", "x", x, alpha, threads);
  check.output("matrix", matrix, x.count, x.length * x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    Corners<T> to(run, matrix);
    cpu::soft_permutation(run.elements(x), run.numbers(alpha), to.rows(), order, inner);
  });
}

template <class T>
void soft_permutation_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx,
                          double* galpha, Order order, Threads threads) {
  const ops::Check check("soft_permutation_vjp", "x", x, alpha, threads);
  check.input("g", g, x.count, x.length * x.length);
  check.optional_output("gx", gx, x.count, x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    Corners<const T> from(run, g);
    cpu::soft_permutation_vjp(run.elements(x), run.numbers(alpha), from.rows(), run.results(gx),
                              run.numbers(galpha), order, inner);
  });
}

template <class T>
void soft_permutation_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                          Rows<T> dmatrix, Order order, Threads threads) {
  const ops::Check check("soft_permutation_jvp", "x", x, alpha, threads);
  check.optional_input("dx", dx, x.count, x.length);
  check.output("dmatrix", dmatrix, x.count, x.length * x.length);
  ops::for_each_run(x, threads, [&](const ops::Run& run, Threads inner) {
    Corners<T> to(run, dmatrix);
    cpu::soft_permutation_jvp(run.elements(x), run.numbers(alpha), run.elements(dx),
                              run.numbers(dalpha), to.rows(), order, inner);
  });
}

LAPSUM_INSTANTIATE(soft_permutation)
LAPSUM_INSTANTIATE(soft_permutation_vjp)
LAPSUM_INSTANTIATE(soft_permutation_jvp)

}  // namespace lapsum
