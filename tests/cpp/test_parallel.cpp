// Threads: everything is done exactly once, sums have one order, exceptions come back.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "cpu/primitives/parallel.h"

namespace lapsum::cpu {
namespace {

constexpr std::ptrdiff_t kSizes[] = {
    0, 1, 2, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk, 3 * kChunk - 1, 7 * kChunk + 3, 100003};
constexpr int kThreads[] = {1, 2, 3, 8};

TEST(Parallel, visits_every_index_once) {
  for (const std::ptrdiff_t n : {0, 1, 2, 3, 7, 97, 1000}) {
    for (const int threads : kThreads) {
      for (const std::ptrdiff_t grain : {kOnePart, std::ptrdiff_t{1}, std::ptrdiff_t{3}}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
        const auto visit = [&](std::ptrdiff_t i, int thread) {
          EXPECT_LT(thread, threads);
          ++visits[static_cast<std::size_t>(i)];
        };
        parallel_for(n, threads, visit, grain);
        for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 1);
      }
    }
  }
}

TEST(Parallel, a_thread_has_the_same_part_in_every_loop) {
  for (const int threads : kThreads) {
    std::vector<int> first(97), again(97);
    const auto note = [&](std::vector<int>& to) {
      parallel_for(97, threads,
                   [&](std::ptrdiff_t i, int t) { to[static_cast<std::size_t>(i)] = t; });
    };
    note(first);
    for (int loop = 0; loop < 20; ++loop) {
      note(again);
      EXPECT_EQ(again, first);
    }
    EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
  }
}

TEST(Parallel, a_thread_takes_its_own_part_first_then_what_is_left_of_others) {
  std::vector<std::ptrdiff_t> seen;
  const auto note = [&](std::ptrdiff_t i) { seen.push_back(i); };
  Parts parts(10, 3);  // [0, 3), [3, 6), [6, 10)
  parts.work(1, 2, note);
  EXPECT_EQ(seen, (std::vector<std::ptrdiff_t>{3, 4, 5, 6, 7, 8, 9, 0, 1, 2}));
  for (const int thread : {0, 1, 2}) parts.work(thread, 2, note);
  EXPECT_EQ(seen.size(), 10u);
}

TEST(Parallel, no_thread_waits_for_a_slower_one) {
  std::atomic<int> done = 0;
  bool has_help = false;
  const auto body = [&](std::ptrdiff_t i, int) {
    if (i == 5) {  // of ten, where the second of two threads begins
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (done < 9 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      has_help = done == 9;
    }
    ++done;
  };
  parallel_for(10, 2, body, 1);
  EXPECT_EQ(done, 10);
  EXPECT_TRUE(has_help);
}

// How many pieces for_each(n, threads, body) has; they cover [0, n) exactly.
template <class ForEach>
std::ptrdiff_t pieces(std::ptrdiff_t n, int threads, ForEach for_each) {
  std::vector<std::atomic<unsigned char>> visits(static_cast<std::size_t>(n));
  std::atomic<std::ptrdiff_t> count = 0;
  for_each(n, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    ++count;
    EXPECT_EQ(begin % Chunks::kStep, 0);
    EXPECT_LE(end - begin, kChunk);
    EXPECT_LT(begin, end);
    for (std::ptrdiff_t i = begin; i < end; ++i) ++visits.at(static_cast<std::size_t>(i));
  });
  EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }))
      << n << " elements, " << threads << " threads";
  return count;
}

TEST(Parallel, chunks_cover_a_row_exactly) {
  for (const std::ptrdiff_t n : kSizes) {
    for (const int threads : kThreads) {
      const auto chunks = pieces(n, threads, [](auto... args) { for_each_chunk(args...); });
      EXPECT_EQ(chunks, Chunks(n).count());
    }
  }
}

TEST(Parallel, parts_cover_a_row_exactly_and_are_enough_for_all_threads) {
  std::vector<std::ptrdiff_t> sizes(std::begin(kSizes), std::end(kSizes));
  for (std::ptrdiff_t n = 4000; n < kChunk; n += 917) sizes.push_back(n);
  for (const std::ptrdiff_t n : sizes) {
    for (const int threads : kThreads) {
      const auto parts = pieces(n, threads, [](auto... args) { for_each_part(args...); });
      if (n >= 8192) {
        EXPECT_GE(parts, std::min(threads, 2)) << n;
      }
    }
  }
}

TEST(Parallel, few_chunks_are_of_about_the_same_length) {
  EXPECT_EQ(Chunks(kChunk).count(), 1);
  EXPECT_EQ(Chunks(kChunk + 1).count(), 2);
  EXPECT_EQ(Chunks(2 * kChunk).count(), 2);
  for (std::ptrdiff_t n = 2 * kChunk + 1; n < 16 * kChunk; n += 997) {
    const Chunks chunks(n);
    ASSERT_EQ(chunks.count() % 4, 0) << n;
    const std::ptrdiff_t last = chunks.end(chunks.count() - 1) - chunks.begin(chunks.count() - 1);
    ASSERT_GT(10 * last, 8 * chunks.length) << n;
  }
}

TEST(Parallel, rethrows_what_a_body_throws) {
  for (const int threads : kThreads) {
    const auto fail = [](std::ptrdiff_t i, int) {
      if (i == 5) throw std::runtime_error("five");
    };
    EXPECT_THROW(parallel_for(9, threads, fail), std::runtime_error);
    EXPECT_THROW(
        for_each_row(9, kChunk, threads, [&](std::ptrdiff_t row, Arena&, int) { fail(row, 0); }),
        std::runtime_error);
  }
}

TEST(Parallel, one_thread_runs_in_order_on_the_calling_thread) {
  std::vector<std::ptrdiff_t> seen;
  const int caller = omp_get_thread_num();
  parallel_for(100, 1, [&](std::ptrdiff_t i, int thread) {
    EXPECT_EQ(thread, caller);
    EXPECT_FALSE(omp_in_parallel());
    seen.push_back(i);
  });
  ASSERT_EQ(seen.size(), 100u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(Parallel, sums_have_the_same_bits_for_any_thread_count) {
  for (const std::ptrdiff_t n : kSizes) {
    const auto term = [](std::ptrdiff_t i) { return 1.0 / static_cast<double>(i + 1); };
    const double one = sum_over(n, 1, term);
    for (const int threads : kThreads) EXPECT_EQ(sum_over(n, threads, term), one);
    EXPECT_EQ(sum_over(n, 3, [](std::ptrdiff_t) { return 1.0; }), static_cast<double>(n));
  }
}

TEST(Parallel, every_row_is_visited_once_with_an_empty_arena) {
  for (const std::ptrdiff_t rows : {0, 1, 2, 5, 97}) {
    for (const std::ptrdiff_t length : {1, 1000, 20000}) {
      for (const int threads : kThreads) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(rows));
        for_each_row(rows, length, threads, [&](std::ptrdiff_t row, Arena& arena, int inner) {
          EXPECT_GE(inner, 1);
          EXPECT_LE(inner, threads);
          const std::span<double> first = arena.take<double>(3);
          const std::span<double> second = arena.take<double>(5);
          EXPECT_TRUE(first.data() + 3 <= second.data() || second.data() + 5 <= first.data());
          ++visits[static_cast<std::size_t>(row)];
        });
        for (const std::atomic<int>& count : visits) EXPECT_EQ(count, 1);
      }
    }
  }
}

TEST(Scratch, keeps_memory_for_the_next_call_of_the_thread) {
  const auto take = [](std::ptrdiff_t n) {
    Scratch scratch(2);
    const Arena::Scope scope(scratch[1]);
    return static_cast<void*>(scratch[1].take<double>(n).data());
  };
  void* first = take(1000);
  EXPECT_EQ(take(1000), first);
  EXPECT_EQ(take(10), first);
}

TEST(Scratch, counts_what_calls_inside_of_calls_keep) {
  const auto take = [](Scratch& scratch) {
    const Arena::Scope scope(scratch[0]);
    scratch[0].take<std::byte>(static_cast<std::ptrdiff_t>(Scratch::kMostKept / 4));
  };
  for (int call = 0; call < 8; ++call) {
    Scratch outer(1);
    take(outer);
    Scratch inner(1);
    take(inner);
  }
  EXPECT_GE(Scratch(1)[0].bytes(), Scratch::kMostKept / 4);
}

TEST(Scratch, keeps_no_more_than_it_says) {
  const auto kept = [] { return Scratch(1)[0].bytes(); };
  const auto take = [](std::size_t bytes) {
    Scratch scratch(1);
    const Arena::Scope scope(scratch[0]);
    scratch[0].take<std::byte>(static_cast<std::ptrdiff_t>(bytes));
  };
  take(Scratch::kMostKept / 2);
  EXPECT_GE(kept(), Scratch::kMostKept / 2);
  std::thread([&] {
    take(Scratch::kMostKept / 2 + 1);
    EXPECT_EQ(kept(), 0);
  }).join();
  take(Scratch::kMostKept + 1);
  EXPECT_EQ(kept(), 0);
}

TEST(Arena, gives_memory_that_begins_with_a_cache_line) {
  Arena arena;
  for (const std::ptrdiff_t bytes : {1, 17, 64, 1000, 200000, (2 << 20) + 1}) {
    const auto at = reinterpret_cast<std::uintptr_t>(arena.take<std::byte>(bytes).data());
    EXPECT_EQ(at % 64, 0u) << bytes;
  }
}

TEST(Arena, takes_back_what_a_scope_took) {
  Arena arena;
  const double* outer = arena.take<double>(4).data();
  const double* inner = nullptr;
  {
    const Arena::Scope scope(arena);
    inner = arena.take<double>(10).data();
    EXPECT_TRUE(arena.take<float>(0).empty());
  }
  EXPECT_EQ(arena.take<double>(7).data(), inner);
  EXPECT_EQ(arena.take<double>(1000).size(), 1000u);
  EXPECT_NE(outer, inner);
}

}  // namespace
}  // namespace lapsum::cpu
