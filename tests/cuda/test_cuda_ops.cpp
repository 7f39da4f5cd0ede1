// Every operation on the device against its definition in long double.
#include <gtest/gtest.h>

#include "cuda_operations.h"
#include "exact.h"
#include "schedules.h"

namespace lapsum::test {
namespace {

template <class T>
class CudaOperations : public testing::Test {
 public:
  // body(op) for every operation.
  template <class Body>
  static void for_each(Body&& body) {
    for (const Operation<T>& op : cuda_operations<T>()) {
      SCOPED_TRACE(op.name);
      body(op);
    }
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaOperations, Types);

TYPED_TEST(CudaOperations, are_their_definitions_with_all_derivatives) {
  using T = TypeParam;
  this->for_each([](const Operation<T>& op) {
    for (const std::ptrdiff_t n : cases<std::ptrdiff_t>({1, 2, 3, 8})) {
      for (const double alpha : cases({0.05, 1.0, 30.0, -0.7})) {
        for (const Order order : cases({Order::ascending, Order::descending})) {
          for (const char* name : cases({"all equal", "ties", "normal"})) {
            SCOPED_TRACE(testing::Message()
                         << name << ", n = " << n << ", alpha = " << alpha
                         << (order == Order::ascending ? ", ascending" : ", descending"));
            const Batch row = make_batch(op, family(name), 1, n, alpha, order);
            Exact<T> exact(op, row);
            exact.differentiate();
            const Results got = evaluate(op, row);
            expect_value(op, exact, got);
            expect_derivatives(op, exact, row, got);
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace lapsum::test
