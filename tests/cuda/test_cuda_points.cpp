// Sums at points on the device: every kernel against its definition, points on elements, points and
// elements at infinity, NaN.
#include <gtest/gtest.h>

#include "device.h"
#include "families.h"
#include "lapsum/cuda/lapsum.h"
#include "lapsum/lapsum.h"
#include "reference.h"
#include "schedules.h"
#include "tolerances.h"

namespace lapsum::test {
namespace {

using reference::Real;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Kernel> kernels() {
  std::vector<Kernel> all = {{Kernel::Shape::cdf, 0}};
  for (int order = 0; order <= Kernel::kMaxOrder; ++order) {
    all.push_back({Kernel::Shape::even, order});
    all.push_back({Kernel::Shape::odd, order});
  }
  return all;
}

// Rows one after another.
struct Sums {
  std::ptrdiff_t rows, n, m;
  std::vector<double> r, w, x;
  double alpha;

  Rows<const double> view(const std::vector<double>& of) const {
    return {of.data(), rows, std::ssize(of) / rows};
  }

  std::vector<double> on_cpu(Kernel kernel) const {
    std::vector<double> y(x.size());
    lap_kernel<double>(view(r), view(w), view(x), alpha, kernel, {y.data(), rows, m}, 1);
    return y;
  }
  std::vector<double> on_device(Kernel kernel) const {
    std::vector<double> y(x.size());
    {
      Device<double, double> d;
      cuda::lap_kernel<double>(d.in(view(r)), d.in(view(w)), d.in(view(x)), alpha, kernel,
                               d.out(Rows<double>(y.data(), rows, m)),
                               d.launch(cuda::lap_kernel_workspace(rows, n, m)));
    }
    return y;
  }
};

Sums draw_sums(const Family& family, std::ptrdiff_t rows, std::ptrdiff_t n, double alpha) {
  Draw draw(static_cast<unsigned>(n));
  Sums out{rows, n, n + 2, {}, draw.normals(rows * n), {}, alpha};
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    const std::vector<double> row = family.row(n);
    out.r.insert(out.r.end(), row.begin(), row.end());
    for (std::ptrdiff_t t = 0; t < out.m; ++t) {  // on elements and between them
      const double at = row[static_cast<std::size_t>(t % n)];
      out.x.push_back(t % 2 == 0 ? at : at + 0.3 * alpha * draw.normal());
    }
  }
  return out;
}

TEST(CudaPoints, see_every_kernel_as_it_is_defined) {
  for (const Family& family : cases(std::vector(std::begin(kFamilies), std::end(kFamilies)))) {
    for (const double alpha : cases({0.1, -2.0})) {
      for (const std::ptrdiff_t n : cases<std::ptrdiff_t>({1, 2, 9, 70})) {
        const Sums sums = draw_sums(family, 2, n, alpha);
        for (const Kernel kernel : kernels()) {
          const std::vector<double> got = sums.on_device(kernel);
          for (std::ptrdiff_t t = 0; t < 2 * sums.m; ++t) {
            const auto row = [&](const std::vector<double>& of) {
              return std::vector<Real>(of.begin() + t / sums.m * n,
                                       of.begin() + (t / sums.m + 1) * n);
            };
            const std::vector<Real> w = row(sums.w);
            Real size = 0;
            for (const Real v : w) size += std::abs(v);
            const auto i = static_cast<std::size_t>(t);
            const Real want = reference::lap_kernel(kernel, row(sums.r), w, sums.x[i], alpha);
            ASSERT_TRUE(
                within(got[i], want, allowed("lap_kernel", "float64", "value", {{"sum|w|", size}})))
                << family.name << ", n = " << n << ", shape " << int(kernel.shape) << ", order "
                << kernel.order << ", point " << t;
          }
        }
      }
    }
  }
}

// The CPU's limits, on rows that end in tiles and beyond.
TEST(CudaPoints, have_the_limits_of_the_cpu) {
  for (const std::ptrdiff_t n : cases<std::ptrdiff_t>({1, 5, 1025})) {
    for (const double alpha : cases({0.5, -0.5})) {
      Sums sums = draw_sums(family("normal"), 3, n, alpha);
      for (std::ptrdiff_t j = 0; j < n; ++j) {  // the second row: infinities; the third: NaN
        if (j % 3 == 0) sums.r[static_cast<std::size_t>(n + j)] = j % 2 == 0 ? kInf : -kInf;
      }
      sums.r[static_cast<std::size_t>(2 * n)] = kNaN;
      for (std::ptrdiff_t i = 0; i < 3; ++i) {
        double* const x = sums.x.data() + i * sums.m;
        x[0] = kInf;
        x[1] = -kInf;
        x[2] = kNaN;
      }
      for (const Kernel kernel : kernels()) {
        const std::vector<double> got = sums.on_device(kernel);
        const std::vector<double> want = sums.on_cpu(kernel);
        Real size = 0;
        for (const double v : sums.w) size += std::abs(v);
        for (std::size_t t = 0; t < got.size(); ++t) {
          ASSERT_TRUE(within(got[t], want[t],
                             2 * allowed("lap_kernel", "float64", "value", {{"sum|w|", size}})))
              << "n = " << n << ", shape " << int(kernel.shape) << ", order " << kernel.order
              << ", point " << t;
        }
      }
    }
  }
}

// The same for LapSum itself; a NaN point is NaN alone.
TEST(CudaPoints, of_lap_sum_may_be_infinite_or_nan) {
  const std::vector<double> r = {0, 1, -kInf, kInf, kInf}, x = {-kInf, 0.5, kNaN, kInf};
  std::vector<double> y(4), want(4);
  {
    Device<double, double> d;
    cuda::lap_sum<double>(
        d.in(Rows<const double>(r.data(), 1, 5)), d.in(Rows<const double>(x.data(), 1, 4)), 1.0,
        d.out(Rows<double>(y.data(), 1, 4)), d.launch(cuda::lap_sum_workspace(1, 5, 4)));
  }
  lap_sum<double>({r.data(), 1, 5}, {x.data(), 1, 4}, 1.0, {want.data(), 1, 4});
  EXPECT_EQ(y[0], 0.5);
  EXPECT_NEAR(y[1], want[1], 1e-15);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 4);
}

}  // namespace
}  // namespace lapsum::test
