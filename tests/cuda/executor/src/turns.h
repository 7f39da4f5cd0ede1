// In which order threads and blocks have their turns.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/schedule.h"

namespace executor {

class Turns {
 public:
  void begin(unsigned threads, std::uint64_t blocks);

  /// The block that runs as number `i`.
  std::uint64_t block(std::uint64_t i) const;

  /// The next round: threads in the order of their turns. Random rounds leave some out, but never
  /// `count` rounds in a row all of them.
  const std::vector<unsigned>& round();

 private:
  std::uint64_t random();

  std::vector<unsigned> all_, some_;
  std::uint64_t blocks_ = 0, step_ = 1, state_ = 0;
};

}  // namespace executor
