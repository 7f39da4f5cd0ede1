// Rows of every kind on the device against the CPU, each within what the table allows: long and
// short, of all families, with infinities, in all types; and the same bits in whatever order
// threads run.
#include <gtest/gtest.h>

#include "cuda_operations.h"
#include "exact.h"
#include "schedules.h"

namespace lapsum::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// body(on_device, on_cpu) for every operation; the CPU computes in double.
template <class T, class E, class Body>
void for_each_pair(Body&& body) {
  const std::vector<Operation<T>>& all = cuda_operations<T, E>();
  std::size_t next = 0;
  for (const Operation<double>& cpu : operations<double>()) {
    if (next == all.size() || std::string_view(all[next].name) != cpu.name) continue;
    SCOPED_TRACE(cpu.name);
    body(all[next++], cpu);
  }
  EXPECT_EQ(next, all.size());
}

/// What a double may become in type E.
template <class E>
double rounded(double x) {
  if constexpr (std::is_same_v<E, cuda::Half>) {
    return std::isinf(x) ? x : __half2float(__double2half(std::clamp(x, -65504.0, 65504.0)));
  } else if constexpr (std::is_same_v<E, cuda::Bfloat16>) {
    return __bfloat162float(__double2bfloat16(x));
  } else {
    return static_cast<double>(static_cast<E>(x));
  }
}

/// Within `error` of `want` before it was rounded to E.
template <class E>
testing::AssertionResult agrees(double got, double want, Real error) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return testing::AssertionSuccess();
  const auto slack = static_cast<double>(error);
  if (std::isfinite(want) && got >= rounded<E>(want - slack) && got <= rounded<E>(want + slack)) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "got " << got << ", want " << want << " within " << slack;
}

/// Compares all results of one row. Both sides are within the table's line for float64 of the
/// truth.
template <class E>
void expect_agreement(const Operation<double>& op, const Batch& batch, const Results& got,
                      const Results& want) {
  Row<double> row(op, batch);
  row.survey();
  // What is allowed for a derivative, which grows with its size: found once for a whole array.
  const auto allow = [&](const std::string& argument, const std::vector<double>& given) {
    const auto at = [&](Real size) {
      return 2 * allowed(op.name, "float64", "grad_" + argument, row.factors(given, size));
    };
    return
        [none = at(0), more = at(1) - at(0)](double size) { return none + more * std::abs(size); };
  };
  for (std::size_t t = 0; t < want.value.size(); ++t) {
    const Factors factors = row.factors(Real(want.value[t]));
    ASSERT_TRUE(
        agrees<E>(got.value[t], want.value[t], 2 * allowed(op.name, "float64", "value", factors)))
        << "value " << t;
  }
  const auto of_x = allow(op.x, batch.g);
  for (std::size_t i = 0; i < want.gx.size(); ++i) {
    ASSERT_TRUE(agrees<E>(got.gx[i], want.gx[i], of_x(want.gx[i]))) << "gx " << i;
  }
  const auto of_second = allow(want.gsecond.empty() ? op.x : op.second, batch.g);
  for (std::size_t i = 0; i < want.gsecond.size(); ++i) {
    const Real error = of_second(want.gsecond[i]);
    // Gradients of levels are double whatever the type of the rows.
    ASSERT_TRUE(op.has_levels() ? within(got.gsecond[i], want.gsecond[i], error)
                                : agrees<E>(got.gsecond[i], want.gsecond[i], error))
        << "gsecond " << i;
  }
  ASSERT_TRUE(within(got.galpha[0], want.galpha[0], allow("alpha", batch.g)(want.galpha[0])));
  const auto along_x = allow(op.x, batch.dx);
  const auto along_alpha = allow("alpha", batch.dalpha);
  const auto along_second = allow(want.gsecond.empty() ? op.x : op.second, batch.dsecond);
  for (std::size_t t = 0; t < want.tangent.size(); ++t) {
    Real error = along_x(want.tangent[t]) + along_alpha(want.tangent[t]);
    if (op.has_levels() && batch.shape.blocks == 1) {  // one result for each level
      error += along_second(want.gsecond[t] / batch.g[t] * batch.dsecond[t]);
    } else if (op.kind != Second::none) {
      error += along_second(want.tangent[t]);
    }
    ASSERT_TRUE(agrees<E>(got.tangent[t], want.tangent[t], error)) << "tangent " << t;
  }
}

/// Numbers that E holds exactly.
template <class E>
Batch in_type(Batch batch, bool with_second) {
  for (std::vector<double>* part : {&batch.x, &batch.dx, &batch.g}) {
    for (double& v : *part) v = rounded<E>(v);
  }
  for (std::vector<double>* part : {&batch.second, &batch.dsecond}) {
    for (double& v : *part) v = with_second ? rounded<E>(v) : v;
  }
  return batch;
}

template <class T, class E>
void compare(const Operation<T>& on_device, const Operation<double>& on_cpu, Batch batch) {
  batch = in_type<E>(std::move(batch), on_cpu.has_view());
  const Results got = evaluate(on_device, batch);
  const Results want = evaluate(on_cpu, batch);
  for (std::ptrdiff_t i = 0; i < batch.rows; ++i) {
    SCOPED_TRACE(testing::Message() << "row " << i);
    const auto part = [&](const std::vector<double>& of) {
      const std::ptrdiff_t size = std::ssize(of) / batch.rows;
      return std::vector<double>(of.begin() + i * size, of.begin() + (i + 1) * size);
    };
    const auto row = [&](const Results& r) {
      return Results{part(r.value), part(r.gx), part(r.gsecond), part(r.galpha), part(r.tangent)};
    };
    expect_agreement<E>(on_cpu, batch.row(i), row(got), row(want));
  }
}

/// Those lengths at which the operation, whose result may be a matrix, is not too slow here.
std::vector<std::ptrdiff_t> lengths(const Operation<double>& op, std::vector<std::ptrdiff_t> all) {
  const bool has_matrix = op.shape(10, 0).length == 100;
  if (has_matrix) std::erase_if(all, [](std::ptrdiff_t n) { return n > 200; });
  const bool is_mask = std::string_view(op.name).ends_with("soft_topk");
  return cases(all, is_mask ? 2 : 1);  // masks have other kernels for short rows
}

// Tiles have 1024 entries.
TEST(CudaRows, of_many_lengths) {
  for_each_pair<double, double>([](const auto& on_device, const auto& on_cpu) {
    for (const std::ptrdiff_t n : lengths(on_cpu, {31, 33, 1024, 2500, 1025})) {
      for (const double alpha : cases({0.05, -3.0})) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", alpha = " << alpha);
        compare<double, double>(
            on_device, on_cpu,
            make_batch(on_cpu, family("normal"), 2, n, alpha, Order::descending));
      }
    }
  });
}

TEST(CudaRows, of_many_families) {
  SKIP_WHERE_RACES_ARE_SOUGHT();
  for_each_pair<double, double>([](const auto& on_device, const auto& on_cpu) {
    for (const Family& family : kFamilies) {
      for (const double alpha : {0.01, 30.0}) {
        for (const std::ptrdiff_t n : lengths(on_cpu, {65, 1100})) {
          SCOPED_TRACE(testing::Message() << family.name << ", n = " << n << ", alpha = " << alpha);
          compare<double, double>(on_device, on_cpu, make_batch(on_cpu, family, 1, n, alpha));
        }
      }
    }
  });
}

template <class E>
void expect_infinities() {
  using T = std::conditional_t<std::is_same_v<E, double>, double, float>;
  for_each_pair<T, E>([](const auto& on_device, const auto& on_cpu) {
    for (const std::ptrdiff_t n : lengths(on_cpu, {5, 40, 1025})) {
      SCOPED_TRACE(testing::Message() << "n = " << n);
      Batch batch = make_batch(on_cpu, family("normal"), 5, n, 0.5);
      for (std::ptrdiff_t i = 0; i < 5; ++i) {  // more and more of them: all, in the last row
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          double& x = batch.x[static_cast<std::size_t>(i * n + j)];
          if (i > 0 && j % 5 == 0) x = kInf;
          if (i > 1 && j % 7 == 3) x = -kInf;
          if (i > 2 && j % 3 > 0) x = i == 3 ? kInf : -kInf;
          if (i == 4) x = j % 2 > 0 ? kInf : -kInf;
        }
      }
      compare<T, E>(on_device, on_cpu, batch);
    }
  });
}

TEST(CudaRows, with_infinities) {
  SKIP_WHERE_RACES_ARE_SOUGHT();
  expect_infinities<double>();
  expect_infinities<cuda::Half>();
}

constexpr std::ptrdiff_t kRows = kSeeksRaces ? 1 : 3;

TEST(CudaRows, of_float) {
  for_each_pair<float, float>([](const auto& on_device, const auto& on_cpu) {
    for (const std::ptrdiff_t n : lengths(on_cpu, {1, 2, 7, 1500, 64, 1100})) {
      SCOPED_TRACE(testing::Message() << "n = " << n);
      compare<float, float>(on_device, on_cpu,
                            make_batch(on_cpu, family("ties"), kRows, n, 0.1, Order::descending));
    }
  });
}

template <class E>
void expect_short_type() {
  for_each_pair<float, E>([](const auto& on_device, const auto& on_cpu) {
    for (const std::ptrdiff_t n : lengths(on_cpu, {1, 3, 50, 1100})) {
      SCOPED_TRACE(testing::Message() << "n = " << n);
      compare<float, E>(on_device, on_cpu, make_batch(on_cpu, family("normal"), kRows, n, 0.25));
    }
  });
}

TEST(CudaRows, of_half) { expect_short_type<cuda::Half>(); }
TEST(CudaRows, of_bfloat16) { expect_short_type<cuda::Bfloat16>(); }

// Beyond 65 535, a limit of some dimensions of a grid. Equal rows have equal results.
TEST(CudaRows, in_large_numbers) {
  SKIP_WHERE_RACES_ARE_SOUGHT();
  for (const Operation<float>& op : cuda_operations<float>()) {
    if (std::string_view(op.name) != "soft_rank" && std::string_view(op.name) != "soft_quantile") {
      continue;
    }
    const Batch one = make_batch(op, family("normal"), 1, 3, 0.5);
    Batch many = one;
    many.rows = 66000;
    for (std::vector<double>* part :
         {&many.x, &many.second, &many.alpha, &many.dx, &many.dsecond, &many.dalpha, &many.g}) {
      const std::vector<double> row = *part;
      for (std::ptrdiff_t i = 1; i < many.rows; ++i) {
        part->insert(part->end(), row.begin(), row.end());
      }
    }
    const std::vector<double> want = evaluate(op, one).all();
    const Results got = evaluate(op, many);
    for (std::ptrdiff_t i = 0; i < many.rows; i += i < many.rows - 100 ? 97 : 1) {
      ASSERT_TRUE(same_bits(got.row(i, many.rows), want)) << op.name << ", row " << i;
    }
  }
}

TEST(CudaRows, have_the_same_bits_in_whatever_order_threads_run) {
  SKIP_WHERE_RACES_ARE_SOUGHT();
  for (const Operation<double>& op : cuda_operations<double>()) {
    SCOPED_TRACE(op.name);
    for (const std::ptrdiff_t n : lengths(op, {9, 1500})) {
      const Batch batch = make_batch(op, family("ties"), n < 10 ? 37 : 2, n, 0.1);
      const std::vector<double> want = evaluate(op, batch).all();
      under_every_schedule(
          [&] { EXPECT_TRUE(same_bits(evaluate(op, batch).all(), want)) << "n = " << n; });
    }
  }
}

}  // namespace
}  // namespace lapsum::test
