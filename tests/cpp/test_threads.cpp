// Every operation gives the same bits for any number of threads.
#include <gtest/gtest.h>

#include "batch.h"

namespace lapsum::test {
namespace {

template <class T>
void expect_same_bits() {
  for (const Operation<T>& op : operations<T>()) {
    SCOPED_TRACE(op.name);
    // Long enough for chunks and threads inside a row.
    const std::ptrdiff_t n = op.shape(10, 0).length == 100 ? 300 : 100003;
    for (const std::ptrdiff_t rows : {1, 7}) {
      const Batch batch =
          make_batch(op, family("normal"), rows, rows == 7 ? n / 20 : n, 0.1, Order::descending);
      const std::vector<double> one = evaluate(op, batch).all();
      for (const Threads threads : {1, 2, 3}) {
        EXPECT_TRUE(same_bits(evaluate(op, batch, threads).all(), one))
            << rows << " rows, " << threads << " threads";
      }
    }
  }
}

TEST(Operations, have_the_same_bits_for_any_thread_count) {
  expect_same_bits<float>();
  expect_same_bits<double>();
}

}  // namespace
}  // namespace lapsum::test
