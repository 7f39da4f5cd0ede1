// Rounds of turns; random ones are drawn by splitmix64 from the seed of the schedule.
#include "turns.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sanitizers.h"

namespace executor {
namespace {

Schedule schedule;

}  // namespace

void set_schedule(Schedule wanted) { schedule = wanted; }

std::vector<Schedule> schedules() {
  using Kind = Schedule::Kind;
  // Races are seen in any order.
  if (kWatchesRaces) return {{Kind::kAscending}, {Kind::kRandom, 1}};
  return {{Kind::kAscending}, {Kind::kDescending}, {Kind::kRandom, 1}, {Kind::kRandom, 2}};
}

void Turns::begin(unsigned threads, std::uint64_t blocks) {
  all_.resize(threads);
  std::iota(all_.begin(), all_.end(), 0u);
  if (schedule.kind == Schedule::Kind::kDescending) std::reverse(all_.begin(), all_.end());
  blocks_ = blocks;
  state_ = schedule.seed;
  step_ = random() % blocks;
  while (std::gcd(step_, blocks) != 1) ++step_;
}

std::uint64_t Turns::block(std::uint64_t i) const {
  switch (schedule.kind) {
    case Schedule::Kind::kAscending:
      return i;
    case Schedule::Kind::kDescending:
      return blocks_ - 1 - i;
    case Schedule::Kind::kRandom:
      break;
  }
  return (i + 1) * step_ % blocks_;
}

const std::vector<unsigned>& Turns::round() {
  if (schedule.kind != Schedule::Kind::kRandom) return all_;
  some_.clear();
  for (unsigned i = 0; i < all_.size(); ++i) {
    const std::uint64_t draw = random();
    std::swap(all_[i], all_[i + (draw >> 2) % (all_.size() - i)]);
    if (draw % 4 != 0) some_.push_back(all_[i]);
  }
  return some_;
}

std::uint64_t Turns::random() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace executor
