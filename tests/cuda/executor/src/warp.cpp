// The one collective of a warp: lanes gather by call and mask, the last one hands out the results.
#include "executor/warp.h"

#include "grid.h"
#include "sanitizers.h"

namespace executor {
namespace {

Gathering& join(Warp& warp, Exchange exchange, unsigned mask, const Site& site) {
  for (Gathering& gathering : warp.gatherings) {
    if (gathering.exchange == exchange && gathering.mask == mask && gathering.site == site) {
      return gathering;
    }
  }
  void* const token = &warp.tokens[warp.syncs++ % std::size(warp.tokens)];
  return warp.gatherings.emplace_back(Gathering{exchange, site, mask, 0, token});
}

}  // namespace

std::uint64_t warp_exchange(Exchange exchange, unsigned mask, std::uint64_t value, int source,
                            const Site& site) {
  Thread& self = grid.current();
  self.site = site;
  self.mask = mask;
  self.value = value;
  self.source = source;
  self.state = Thread::State::kInWarp;
  const unsigned lane = grid.current_rank() % 32;
  if ((mask >> lane & 1) == 0) grid.fail("a lane is not in the mask it gives");
  Gathering& gathering = join(grid.current_warp(), exchange, mask, site);
  gathering.arrived |= 1u << lane;
  void* const token = gathering.token;
  if (exchange == Exchange::kSync) happens_before(token);
  grid.complete(gathering);
  grid.wait();
  if (exchange == Exchange::kSync) happens_after(token);
  return self.result;
}

void Grid::complete(Gathering& gathering) {
  Warp& warp = current_warp();
  const unsigned arrived = gathering.arrived;
  if ((gathering.mask & warp.live & ~arrived) != 0) return;
  for (unsigned i = 0; i < 32; ++i) {
    if ((arrived >> i & 1) == 0) continue;
    Thread& self = lane(i);
    self.result = 0;
    if (gathering.exchange == Exchange::kShuffle) {
      if ((arrived >> self.source & 1) == 0) {
        fail("lane " + std::to_string(i) + " takes the value of lane " +
             std::to_string(self.source) + ", which does not take part");
      }
      self.result = lane(static_cast<unsigned>(self.source)).value;
    } else {
      for (unsigned j = 0; j < 32; ++j) {
        if ((arrived >> j & 1) == 0) continue;
        const std::uint64_t wanted = gathering.exchange == Exchange::kMatch ? self.value : 1;
        if (lane(j).value == wanted) self.result |= std::uint64_t{1} << j;
      }
    }
  }
  for (unsigned i = 0; i < 32; ++i) {
    if ((arrived >> i & 1) != 0) lane(i).state = Thread::State::kReady;
  }
  warp.gatherings.erase(warp.gatherings.begin() + (&gathering - warp.gatherings.data()));
}

unsigned live_lanes() { return grid.current_warp().live; }

}  // namespace executor
