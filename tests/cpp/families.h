// Families of rows that the tests run through, the same ones every time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string_view>
#include <vector>

namespace lapsum::test {

/// Random numbers that are the same on every machine.
class Draw {
 public:
  explicit Draw(unsigned seed) : bits_(seed) {}

  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log1p(-uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }
  std::ptrdiff_t below(std::ptrdiff_t n) {
    return static_cast<std::ptrdiff_t>(uniform() * static_cast<double>(n));
  }
  std::vector<double> normals(std::ptrdiff_t n) {
    std::vector<double> out(static_cast<std::size_t>(n));
    for (double& v : out) v = normal();
    return out;
  }

 private:
  std::mt19937_64 bits_;
};

struct Family {
  const char* name;
  std::function<double(Draw&, std::ptrdiff_t i, std::ptrdiff_t n)> element;

  template <class T = double>
  std::vector<T> row(std::ptrdiff_t n) const {
    Draw draw(static_cast<unsigned>(n) + 1);
    std::vector<T> out(static_cast<std::size_t>(n));
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      out[static_cast<std::size_t>(i)] = static_cast<T>(element(draw, i, n));
    }
    return out;
  }
};

inline const Family kFamilies[] = {
    {"normal", [](Draw& draw, auto, auto) { return draw.normal(); }},
    {"ties", [](Draw& draw, auto, auto n) { return 0.25 * double(draw.below(n / 3 + 1)); }},
    {"all equal", [](Draw&, auto, auto) { return 0.7; }},
    {"clusters",
     [](Draw& draw, auto, auto) { return 3.0 * double(draw.below(3)) + 1e-3 * draw.normal(); }},
    {"sorted", [](Draw& draw, auto i, auto) { return 0.01 * (double(i) + draw.uniform()); }},
    {"reversed", [](Draw& draw, auto i, auto) { return -0.01 * (double(i) + draw.uniform()); }},
    {"outlier", [](Draw& draw, auto i, auto n) { return i == n / 2 ? 1e30 : draw.normal(); }},
    {"far from 0", [](Draw& draw, auto, auto) { return 1e6 + draw.normal(); }},
    {"wide gaps", [](Draw& draw, auto, auto n) { return 1e4 * double(draw.below(2 * n)); }},
    {"denormals",
     [](Draw& draw, auto, auto) {
       return draw.normal() * std::numeric_limits<double>::denorm_min() * 100;
     }},
};

inline const Family& family(std::string_view name) {
  return *std::find_if(std::begin(kFamilies), std::end(kFamilies),
                       [&](const Family& f) { return f.name == name; });
}

}  // namespace lapsum::test
