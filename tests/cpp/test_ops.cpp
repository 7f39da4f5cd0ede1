// Every operation against its definition in long double: values, gradients in all arguments, and
// derivatives along directions.
#include <gtest/gtest.h>

#include "exact.h"
#include "targets.h"

namespace lapsum::test {
namespace {

// body(op) for every operation.
template <class T, class Body>
void for_each_operation(Body&& body) {
  for (const Operation<T>& op : operations<T>()) {
    SCOPED_TRACE(op.name);
    body(op);
  }
}

template <class T>
class Operations : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Operations, Types);

TYPED_TEST(Operations, are_their_definitions_with_all_derivatives) {
  using T = TypeParam;
  for_each_operation<T>([](const Operation<T>& op) {
    for (const std::ptrdiff_t n : {1, 2, 3, 8}) {
      for (const double alpha : {0.05, 1.0, -0.7, 30.0}) {
        for (const Order order : {Order::ascending, Order::descending}) {
          for (const char* name : {"normal", "ties", "all equal"}) {
            SCOPED_TRACE(testing::Message()
                         << name << ", n = " << n << ", alpha = " << alpha
                         << (order == Order::ascending ? ", ascending" : ", descending"));
            const Batch row = make_batch(op, family(name), 1, n, alpha, order);
            Exact<T> exact(op, row);
            exact.differentiate();
            for_each_target([&] {
              const Results got = evaluate(op, row);
              expect_value(op, exact, got);
              expect_derivatives(op, exact, row, got);
            });
          }
        }
      }
    }
  });
}

TYPED_TEST(Operations, are_their_definitions_on_longer_rows) {
  using T = TypeParam;
  for_each_operation<T>([](const Operation<T>& op) {
    for (const std::ptrdiff_t n : {33, 300}) {
      for (const double alpha : {0.01, 1.0}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", alpha = " << alpha);
        const Batch row = make_batch(op, family("normal"), 1, n, alpha, Order::descending);
        expect_value(op, Exact<T>(op, row), evaluate(op, row));
      }
    }
  });
}

// <g, J dx> = <J^T g, dx> on rows too long for a dense Jacobian.
TYPED_TEST(Operations, have_vjp_adjoint_to_jvp) {
  using T = TypeParam;
  for_each_operation<T>([](const Operation<T>& op) {
    for (const double alpha : {0.1, -2.0}) {
      Batch batch = make_batch(op, family("normal"), 1, 300, alpha);
      for (double& v : batch.dsecond) v = 0;
      for (double& v : batch.dweights) v = 0;
      batch.dalpha[0] = 0;
      const Results got = evaluate(op, batch);
      Real there = 0, back = 0, size = 0;
      for (std::size_t t = 0; t < batch.g.size(); ++t) {
        there += Real(batch.g[t]) * got.tangent[t];
        size += std::abs(Real(batch.g[t]) * got.tangent[t]);
      }
      for (std::size_t i = 0; i < batch.dx.size(); ++i) {
        back += Real(batch.dx[i]) * got.gx[i];
        size += std::abs(Real(batch.dx[i]) * got.gx[i]);
      }
      EXPECT_TRUE(within(there, back, allowed("adjoint", kDtype<T>, "value", {{"size", size}})));
    }
  });
}

}  // namespace
}  // namespace lapsum::test
