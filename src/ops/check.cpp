#include "ops/check.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "cpu/primitives/argsort.h"

namespace lapsum::ops {
namespace {

// The shortest text that reads back as the same number.
std::string text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

std::string rows_of(std::ptrdiff_t count, std::ptrdiff_t length) {
  return std::to_string(count) + " rows of " + std::to_string(length);
}

}  // namespace

void Check::fail(const std::string& name, const std::string& must, const std::string& got) const {
  throw std::invalid_argument(operation_ + ": " + name + " must " + must + ", got " + got);
}

void Check::view(const char* name, bool has_data, std::ptrdiff_t count,
                 std::ptrdiff_t length) const {
  if (count < 0 || length < 0) fail(name, "have no negative size", rows_of(count, length));
  if (!has_data && count > 0 && length > 0) fail(name, "have data", "a null pointer");
}

void Check::shape(const char* name, std::ptrdiff_t count, std::ptrdiff_t length,
                  std::ptrdiff_t want_count, std::ptrdiff_t want_length) const {
  if (count != want_count || length != want_length) {
    fail(name, "have " + rows_of(want_count, want_length), rows_of(count, length));
  }
}

void Check::stride(const char* name, std::ptrdiff_t count, std::ptrdiff_t length,
                   std::ptrdiff_t stride) const {
  if (count > 1 && std::abs(stride) < length) {
    fail(name, "have rows that do not overlap",
         "stride " + std::to_string(stride) + " for rows of " + std::to_string(length));
  }
}

void Check::sortable(const char* name, std::ptrdiff_t length) const {
  range(("length of " + std::string(name)).c_str(), length, 0, cpu::kMaxLength);
}

void Check::alpha(const PerRow& alpha, std::ptrdiff_t rows) const {
  if (!alpha.has_data() && rows > 0) fail("alpha", "have data", "a null pointer");
  if (!alpha.is_number()) return;
  if (!std::isfinite(alpha[0]) || alpha[0] == 0) {
    fail("alpha", "be finite and not 0", "alpha=" + text(alpha[0]));
  }
}

void Check::level(const char* name, const Levels& levels, std::ptrdiff_t rows, double limit,
                  const char* limit_name) const {
  sortable(name, levels.count());
  if (!levels.has_data() && rows > 0 && levels.count() > 0)
    fail(name, "have data", "a null pointer");
  if (!levels.is_number()) return;
  const double value = levels[0][0];
  if (value >= 0 && value <= limit) return;
  std::string got = std::string(name).append("=").append(text(value));
  if (std::string_view(limit_name) == "n") got.append(" with n=").append(text(limit));
  fail(name, std::string("be in [0, ").append(limit_name).append("]"), got);
}

void Check::workspace(const cuda::Launch& where, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(where.workspace);
  if (bytes > 0 && where.workspace_bytes < bytes) {
    fail("workspace", "have at least " + std::to_string(bytes) + " bytes",
         std::to_string(where.workspace_bytes));
  }
  if (bytes > 0 && (address == 0 || address % 256 != 0)) {
    fail("workspace", "be device memory aligned to 256 bytes",
         "address " + std::to_string(address));
  }
}

void Check::range(const char* name, std::ptrdiff_t value, std::ptrdiff_t low,
                  std::ptrdiff_t high) const {
  if (value < low || value > high) {
    fail(name, "be in [" + std::to_string(low) + ", " + std::to_string(high) + "]",
         std::to_string(value));
  }
}

}  // namespace lapsum::ops
