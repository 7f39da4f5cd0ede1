// What becomes of work in a process of its own, which begins anew: ThreadSanitizer loses its fibers
// in a fork.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

/// It exits with this code (0 if no sanitizer objects), and its report matches.
#define EXPECT_ENDS(work, code, report)                 \
  testing::FLAGS_gtest_death_test_style = "threadsafe"; \
  EXPECT_EXIT((work, std::exit(0)), testing::ExitedWithCode(code), report)
