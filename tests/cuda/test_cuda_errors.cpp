// What a call on a device refuses beside wrong arguments: too little workspace, rows of several
// lengths, and a machine that has no device.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "device.h"
#include "lapsum/cuda/lapsum.h"

namespace lapsum::test {
namespace {

template <class Error>
std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

// Never reached by a kernel.
float* memory() {
  static float numbers[16];
  return numbers;
}

void topk(const Rows<const float>& x, const cuda::Launch& where) {
  cuda::soft_topk<float>(x, 1.0, 1.0, {memory(), 2, 3}, nullptr, Order::descending, where);
}

TEST(CudaErrors, name_the_workspace) {
  alignas(256) static char workspace[4096];
  const std::size_t bytes = cuda::soft_topk_workspace(2, 3, 1);
  ASSERT_LE(bytes, sizeof workspace);
  EXPECT_EQ(message<std::invalid_argument>(
                [&] { topk({memory(), 2, 3}, {nullptr, workspace, bytes - 1}); }),
            "soft_topk: workspace must have at least " + std::to_string(bytes) + " bytes, got " +
                std::to_string(bytes - 1));
  EXPECT_EQ(
      message<std::invalid_argument>([&] { topk({memory(), 2, 3}, {nullptr, nullptr, bytes}); }),
      "soft_topk: workspace must be device memory aligned to 256 bytes, got address 0");
}

TEST(CudaErrors, name_rows_of_several_lengths) {
  const std::ptrdiff_t lengths[] = {2, 3};
  EXPECT_EQ(message<std::invalid_argument>([&] { topk({memory(), 2, 3, 3, lengths}, {}); }),
            "soft_topk: x must have rows of one length on a GPU, got lengths");
}

TEST(CudaErrors, say_that_there_is_no_gpu) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
    GTEST_SKIP() << "there is a device";
  }
  alignas(256) static char workspace[1 << 16];
  const cuda::Launch where{nullptr, workspace, sizeof workspace};
  const std::string want = "lapsum: this machine has no GPU, or no driver that CUDA could use: ";
  const std::string topk_says = message<std::runtime_error>([&] { topk({memory(), 2, 3}, where); });
  EXPECT_EQ(topk_says.substr(0, want.size()), want) << topk_says;
  EXPECT_GT(topk_says.size(), want.size()) << "and what CUDA says";
  // Long rows are sorted by CUB, which asks for the device before anything is launched.
  for (const std::ptrdiff_t n : {3, 100000}) {
    const std::string rank_says = message<std::runtime_error>([&] {
      const std::size_t bytes = cuda::soft_rank_workspace(1, n);
      cuda::soft_rank<float>({memory(), 1, n}, 1.0, {memory(), 1, n}, Order::ascending,
                             {nullptr, workspace, bytes});
    });
    EXPECT_EQ(rank_says.substr(0, want.size()), want) << rank_says;
  }
}

}  // namespace
}  // namespace lapsum::test
