// The functions for a GPU in a build without CUDA: arguments are checked, then they say that it has
// none.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "lapsum/cuda/lapsum.h"

namespace lapsum {
namespace {

template <class Error>
void expect_error(const std::function<void()>& call, const std::string& want) {
  try {
    call();
    ADD_FAILURE() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(want), std::string::npos) << error.what();
  }
}

TEST(CudaOff, says_that_the_build_has_no_cuda) {
  const std::string want = "this build has no CUDA; build it with -DLAPSUM_CUDA=ON";
  float x[3] = {1, 2, 3};
  expect_error<std::runtime_error>([&] { cuda::soft_topk_workspace(1, 3, 1); }, want);
  expect_error<std::runtime_error>(
      [&] { cuda::soft_rank<float>({x, 1, 3}, 1.0, {x, 1, 3}, Order::ascending, {}); }, want);
  expect_error<std::runtime_error>(
      [&] {
        cuda::soft_topk<float>({x, 1, 3}, 2.0, 1.0, {x, 1, 3}, nullptr, Order::descending, {});
      },
      want);
}

TEST(CudaOff, checks_arguments_first) {
  float x[3] = {1, 2, 3};
  expect_error<std::invalid_argument>(
      [&] {
        cuda::soft_topk<float>({x, 1, 3}, 4.0, 1.0, {x, 1, 3}, nullptr, Order::descending, {});
      },
      "soft_topk: k must be in [0, n], got k=4 with n=3");
}

}  // namespace
}  // namespace lapsum
