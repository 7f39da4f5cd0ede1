// The table is read once. A quantity that it lacks, or a factor without a value, is an error of the
// test that asks for it.
#include "tolerances.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace lapsum::test {
namespace {

struct Term {
  long double bound;
  std::vector<std::string> factors;
};

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string key(const std::string& operation, const std::string& dtype,
                const std::string& quantity) {
  return operation + "," + dtype + "," + quantity;
}

std::map<std::string, std::vector<Term>> load() {
  std::ifstream file(LAPSUM_TOLERANCES);
  if (!file) throw std::runtime_error("cannot read " LAPSUM_TOLERANCES);
  std::map<std::string, std::vector<Term>> table;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::vector<std::string> at = split(line, ',');
    table[key(at.at(0), at.at(1), at.at(2))].push_back(
        {std::stold(at.at(3)), split(at.at(4), ' ')});
  }
  return table;
}

}  // namespace

long double allowed(const std::string& operation, const std::string& dtype,
                    const std::string& quantity, const Factors& factors) {
  static const auto table = load();
  long double total = 0;
  for (const Term& term : table.at(key(operation, dtype, quantity))) {
    long double product = term.bound;
    for (const std::string& name : term.factors) product *= name == "1" ? 1 : factors.at(name);
    total += product;
  }
  return total;
}

testing::AssertionResult within(long double got, long double want, long double limit) {
  if (got == want || (std::isnan(got) && std::isnan(want)) || std::abs(got - want) <= limit) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "got " << static_cast<double>(got) << ", want " << static_cast<double>(want)
         << ", off by " << static_cast<double>(std::abs(got - want)) << " > "
         << static_cast<double>(limit);
}

}  // namespace lapsum::test
