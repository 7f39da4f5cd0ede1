// Sorting in buckets: which rows it takes, and what it leaves of those it does not. That it sorts is
// tested with argsort, on rows of every spread.
#include <gtest/gtest.h>

#include <numeric>

#include "cpu/primitives/bucket_sort.h"
#include "families.h"
#include "guarded.h"
#include "targets.h"

namespace lapsum::cpu {
namespace {

using test::Guarded;

struct Result {
  bool done;
  std::vector<double> sorted;
  std::vector<Index> order;
};

Result sort(const std::vector<float>& x, bool negate) {
  const std::ptrdiff_t n = std::ssize(x);
  Guarded<float> row(x);
  Guarded<double> sorted(n);
  Guarded<Index> order(n);
  for (std::ptrdiff_t i = 0; i < n; ++i) order[i] = static_cast<Index>(i);
  Arena arena;
  const bool done = bucket_sort(row.data(), n, negate, sorted.data(), order.data(), arena);
  return {done, sorted.copy(), order.copy()};
}

TEST(BucketSort, takes_rows_that_spread) {
  test::for_each_target([] {
    for (const char* name : {"normal", "ties", "sorted", "reversed"}) {
      for (const std::ptrdiff_t n : {63, 513, 6143, 6145, 10450, 32768}) {
        for (const bool negate : {false, true}) {
          SCOPED_TRACE(testing::Message() << name << ", n = " << n << ", negate = " << negate);
          const std::vector<float> x = test::family(name).row<float>(n);
          const Result got = sort(x, negate);
          ASSERT_TRUE(got.done);
          std::vector<Index> want(x.size());
          std::iota(want.begin(), want.end(), Index{0});
          std::stable_sort(want.begin(), want.end(),
                           [&](Index a, Index b) { return negate ? x[a] > x[b] : x[a] < x[b]; });
          for (std::size_t i = 0; i < x.size(); ++i) {
            ASSERT_EQ(got.sorted[i], negate ? -x[want[i]] : x[want[i]]) << i;
            ASSERT_EQ(got.order[i], want[i]) << i;
          }
        }
      }
    }
  });
}

TEST(BucketSort, leaves_rows_that_crowd_or_are_not_finite_as_they_are) {
  for (const float odd : {1e30f, INFINITY, -INFINITY, NAN}) {
    SCOPED_TRACE(odd);
    std::vector<float> x = test::family("normal").row<float>(3000);
    x[7] = odd;
    const Result got = sort(x, false);
    EXPECT_FALSE(got.done);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got.order[i], static_cast<Index>(i));
  }
}

}  // namespace
}  // namespace lapsum::cpu
