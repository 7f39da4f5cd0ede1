// What soft_topk and log_soft_topk promise on a device beyond what all operations do: any cut of a
// row, many rows, and thresholds that are kept.
#include <gtest/gtest.h>

#include <numeric>

#include "cuda/primitives/mask.h"
#include "cuda_operations.h"
#include "exact.h"
#include "schedules.h"

namespace lapsum::test {
namespace {

template <class T>
class CudaMasks : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaMasks, Types);

// soft_topk or log_soft_topk with rows cut in another way than their length asks for.
template <class T, gpu::Curve curve, std::ptrdiff_t warp_row, std::ptrdiff_t tile>
Operation<T> cut_operation() {
  using On = OnDevice<T, T>;
  Operation<T> op = operation<T>(curve == gpu::Curve::cdf ? "soft_topk" : "log_soft_topk");
  static constexpr auto tiling = [](const On& on) { return gpu::Tiling(on.n, warp_row, tile); };
  static constexpr auto where = [](On& on) {
    return on.launch(gpu::mask_workspace(on.rows, on.m, tiling(on)));
  };
  op.value = [](const Call<T>& c, Rows<T> p) {
    On on(c);
    gpu::mask(curve, on.x, on.levels, on.alpha, on.out(p), nullptr, on.order, where(on),
              tiling(on));
  };
  op.vjp = [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
    On on(c);
    gpu::mask_vjp(curve, on.x, on.levels, on.alpha, nullptr, on.in(g), on.out(to.x),
                  on.out(to.levels, on.rows * on.m), on.out(to.alpha, on.rows), on.order, where(on),
                  tiling(on));
  };
  op.jvp = [](const Call<T>& c, const Tangents<T>& d, Rows<T> p) {
    On on(c);
    gpu::mask_jvp(curve, on.x, on.levels, on.alpha, nullptr, on.in(d.x),
                  on.in(d.levels, on.rows * on.m), on.in(d.alpha, on.rows), on.out(p), on.order,
                  where(on), tiling(on));
  };
  return op;
}

template <class T>
std::vector<Operation<T>> cut_operations() {
  constexpr std::ptrdiff_t kAll = 1 << 20;
  return {cut_operation<T, gpu::Curve::cdf, 0, kAll>(), cut_operation<T, gpu::Curve::cdf, 0, 3>(),
          cut_operation<T, gpu::Curve::log_cdf, 0, kAll>(),
          cut_operation<T, gpu::Curve::log_cdf, 0, 3>()};
}

TYPED_TEST(CudaMasks, are_their_definitions_however_rows_are_cut) {
  using T = TypeParam;
  for (const Operation<T>& op : cut_operations<T>()) {
    for (const std::ptrdiff_t n : cases<std::ptrdiff_t>({2, 8})) {
      for (const double alpha : cases({0.05, -0.7})) {
        for (const char* name : cases({"ties", "clusters", "normal"})) {
          SCOPED_TRACE(testing::Message()
                       << op.name << " of " << name << ", n = " << n << ", alpha = " << alpha);
          const Batch row = make_batch(op, family(name), 1, n, alpha, Order::descending);
          Exact<T> exact(op, row);
          exact.differentiate();
          const Results got = evaluate(op, row);
          expect_value(op, exact, got);
          expect_derivatives(op, exact, row, got);
        }
      }
    }
  }
}

// Levels beyond the ends, elements at both infinities, NaN: as on the CPU.
TYPED_TEST(CudaMasks, agree_with_the_cpu_at_the_edges_however_rows_are_cut) {
  SKIP_WHERE_RACES_ARE_SOUGHT();
  using T = TypeParam;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const Operation<T>& op : cut_operations<T>()) {
    SCOPED_TRACE(op.name);
    Batch batch = make_batch(op, family("normal"), 5, 9, 0.1, Order::descending);
    batch.x[9] = batch.x[11] = batch.x[14] = kInf;
    batch.x[18] = batch.x[22] = -kInf;
    batch.x[27] = kInf;
    batch.x[30] = -kInf;
    batch.x[40] = std::numeric_limits<double>::quiet_NaN();
    batch.second = {-1, 0, 9, 0.5, 2, 3.5, 7, 8, 9, 1, 4, 8.5, 1, 2, 3};
    const Results got = evaluate(op, batch);
    const Results want = evaluate(operation<T>(op.name), batch);
    const std::vector<double> all = got.all(), expected = want.all();
    ASSERT_EQ(all.size(), expected.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      // Like an adjoint: every term is rounded once; derivatives are of the size of 1 / alpha.
      const Real size = 10 * (1 + std::abs(Real(expected[i])));
      EXPECT_TRUE(
          within(all[i], expected[i], allowed("adjoint", kDtype<T>, "value", {{"size", size}})))
          << i;
    }
  }
}

// More rows than one dimension of a grid once could have. Most of them choose nothing, which is
// quickly done; the others are what they are alone.
TEST(CudaManyRows, each_have_their_own_mask) {
  SKIP_UNDER_SANITIZERS();
  constexpr std::ptrdiff_t kRows = 65541;
  constexpr std::ptrdiff_t kLength = 3;
  const Operation<float>& op = cuda_operation<float>("soft_topk");
  std::vector<float> x(kRows * kLength), p(kRows * kLength);
  std::vector<double> k(kRows);
  Draw draw(1);
  for (float& v : x) v = static_cast<float>(draw.normal());
  for (const std::ptrdiff_t i : {0, 32767, 65535, 65536, 65540}) k[i] = 0.5 + 2 * draw.uniform();
  op.value({{x.data(), kRows, kLength}, {}, {k.data(), 1, 1}, 0.3, Order::descending, 1},
           {p.data(), kRows, kLength});
  for (std::ptrdiff_t i = 0; i < kRows; ++i) {
    std::vector<float> alone(kLength);
    if (k[i] > 0) {
      op.value({{&x[i * kLength], 1, kLength}, {}, {&k[i], 1, 1}, 0.3, Order::descending, 1},
               {alone.data(), 1, kLength});
    }
    const std::vector<float> got(&p[i * kLength], &p[i * kLength] + kLength);
    ASSERT_TRUE(same_bits(got, alone)) << i;
    const Real sum = std::accumulate(got.begin(), got.end(), Real(0));
    ASSERT_TRUE(within(sum, k[i], allowed("soft_topk", "float32", "sum", {{"k", k[i]}}))) << i;
  }
}

// Thresholds that the forward pass kept give the gradients of those that are solved again.
TEST(CudaThresholds, that_are_kept_give_the_same_gradients) {
  const Batch b = make_batch(operation<double>("soft_topk"), family("normal"), 3, 33, 0.1);
  const std::ptrdiff_t masks = b.rows * b.seconds;
  const auto compare = [&](auto forward, auto vjp, auto jvp, auto workspace) {
    std::vector<double> gx[2], gk[2], galpha[2], dp[2];
    for (const bool saved : {false, true}) {
      gx[saved].resize(b.x.size());
      gk[saved].resize(masks);
      galpha[saved].resize(b.rows);
      dp[saved].resize(b.g.size());
      std::vector<double> p(b.g.size()), thresholds(2 * masks);
      Device<double, double> on;
      const auto x = on.in(Rows<const double>(b.x.data(), b.rows, b.n));
      const auto k = on.in(Levels(b.second.data(), b.seconds, b.seconds), b.rows);
      const auto alpha = on.in(PerRow(b.alpha.data()), b.rows);
      const auto where = on.launch(workspace(b.rows, b.n, b.seconds));
      auto* const kept = reinterpret_cast<Threshold*>(on.out(thresholds.data(), 2 * masks));
      const Threshold* const given = saved ? kept : nullptr;
      forward(x, k, alpha, on.out(Rows<double>(p.data(), masks, b.n)), kept, b.order, where);
      vjp(x, k, alpha, given, on.in(Rows<const double>(b.g.data(), masks, b.n)),
          on.out(Rows<double>(gx[saved].data(), b.rows, b.n)), on.out(gk[saved].data(), masks),
          on.out(galpha[saved].data(), b.rows), b.order, where);
      jvp(x, k, alpha, given, on.in(Rows<const double>(b.dx.data(), b.rows, b.n)),
          on.in(b.dsecond.data(), masks), on.in(b.dalpha.data(), b.rows),
          on.out(Rows<double>(dp[saved].data(), masks, b.n)), b.order, where);
    }
    EXPECT_TRUE(same_bits(gx[1], gx[0]));
    EXPECT_TRUE(same_bits(gk[1], gk[0]));
    EXPECT_TRUE(same_bits(galpha[1], galpha[0]));
    EXPECT_TRUE(same_bits(dp[1], dp[0]));
  };
  compare(cuda::soft_topk<double>, cuda::soft_topk_vjp<double>, cuda::soft_topk_jvp<double>,
          cuda::soft_topk_workspace);
  compare(cuda::log_soft_topk<double>, cuda::log_soft_topk_vjp<double>,
          cuda::log_soft_topk_jvp<double>, cuda::log_soft_topk_workspace);
}

}  // namespace
}  // namespace lapsum::test
