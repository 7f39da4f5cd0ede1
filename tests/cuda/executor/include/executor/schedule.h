// What a test says to the executor and hears from it: in which order threads and blocks run, and
// the fault of a kernel.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace executor {

/// A kernel did what no kernel may; what() names threads, files and lines. Thrown by the launch.
class Fault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Threads of a block take turns from one wait to the next, in this order; blocks run one after
/// another, in this order. Random turns leave threads out at times, so that some fall behind.
struct Schedule {
  enum class Kind { kAscending, kDescending, kRandom };
  Kind kind = Kind::kAscending;
  std::uint64_t seed = 0;
};

void set_schedule(Schedule schedule);

/// The schedules under which a kernel must give the same bits.
std::vector<Schedule> schedules();

/// work() under each of schedules(); ends with the first one set.
template <class Work>
void under_every_schedule(Work&& work) {
  for (const Schedule& schedule : schedules()) {
    set_schedule(schedule);
    work();
  }
  set_schedule({});
}

}  // namespace executor
