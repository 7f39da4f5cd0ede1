// The collectives of a warp: lanes gather by call and mask; when all have come, they get results.
#include "executor/warp.h"

#include <string>

#include "grid.h"
#include "sanitizers.h"

namespace executor {

Gathering& Grid::join(Exchange exchange, unsigned mask, const Site& site) {
  Warp& warp = warps_[current_ / 32];
  for (unsigned i = 0; i < warp.count; ++i) {
    Gathering& gathering = warp.gatherings[i];
    if (gathering.exchange == exchange && gathering.mask == mask &&
        same_place(gathering.site, site)) {
      return gathering;
    }
  }
  void* const token = exchange == Exchange::kSync ? new_token() : nullptr;
  return warp.gatherings[warp.count++] = {exchange, site, mask, 0, token};
}

std::uint64_t Grid::exchange(Exchange exchange, unsigned mask, std::uint64_t value, int source,
                             const Site& site) {
  const unsigned lane = current_ % 32;
  if ((mask >> lane & 1) == 0) fail("a lane is not in the mask it gives", site);
  Thread& self = threads_[current_];
  self.state = Thread::State::kInWarp;
  self.site = site;
  self.mask = mask;
  self.value = value;
  self.source = source;
  Gathering& gathering = join(exchange, mask, site);
  gathering.arrived |= 1u << lane;
  void* const token = gathering.token;
  if (token) happens_before(token);
  Fiber::suspend();
  if (token) happens_after(token);
  return self.result;
}

void Grid::complete_gatherings() {
  Warp& warp = warps_[current_ / 32];
  for (unsigned i = warp.count; i-- > 0;) {
    const Gathering& gathering = warp.gatherings[i];
    if ((gathering.mask & warp.live & ~gathering.arrived) != 0) continue;
    complete(gathering);
    warp.gatherings[i] = warp.gatherings[--warp.count];
  }
}

void Grid::complete(const Gathering& gathering) {
  const unsigned arrived = gathering.arrived;
  const auto lanes_with = [&](std::uint64_t value) {
    std::uint64_t lanes = 0;
    for (unsigned i = 0; i < 32; ++i) {
      if ((arrived >> i & 1) != 0 && lane(i).value == value) lanes |= std::uint64_t{1} << i;
    }
    return lanes;
  };
  const std::uint64_t ballot = gathering.exchange == Exchange::kBallot ? lanes_with(1) : 0;
  for (unsigned i = 0; i < 32; ++i) {
    if ((arrived >> i & 1) == 0) continue;
    Thread& self = lane(i);
    switch (gathering.exchange) {
      case Exchange::kSync:
        break;
      case Exchange::kShuffle:
        if ((arrived >> self.source & 1) == 0) {
          throw_fault("lane " + std::to_string(i) + " takes the value of lane " +
                      std::to_string(self.source) + ", which does not take part,");
        }
        self.result = lane(static_cast<unsigned>(self.source)).value;
        break;
      case Exchange::kBallot:
        self.result = ballot;
        break;
      case Exchange::kMatch:
        self.result = lanes_with(self.value);
        break;
    }
  }
  for (unsigned i = 0; i < 32; ++i) {
    if ((arrived >> i & 1) != 0) lane(i).state = Thread::State::kReady;
  }
}

std::uint64_t warp_exchange(Exchange exchange, unsigned mask, std::uint64_t value, int source,
                            const Site& site) {
  return grid.exchange(exchange, mask, value, source, site);
}

unsigned live_lanes() { return grid.live_lanes(); }

}  // namespace executor
