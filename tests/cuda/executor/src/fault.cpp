// The report of a fault: where every thread of the block is, neighbours at the same place together.
#include <sstream>

#include "executor/schedule.h"
#include "grid.h"

namespace executor {
namespace {

using State = Thread::State;

bool alike(const Thread& a, const Thread& b) {
  if (a.state != b.state) return false;
  if (a.state == State::kReady || a.state == State::kExited) return true;
  return same_place(a.site, b.site) && (a.state != State::kInWarp || a.mask == b.mask);
}

void describe(std::ostream& out, const Thread& thread) {
  if (thread.state == State::kExited) {
    out << " exited";
  } else if (thread.state == State::kReady) {
    out << " on the way";
  } else {
    out << " in " << thread.site.operation;
    if (thread.state == State::kInWarp)
      out << " of lanes 0x" << std::hex << thread.mask << std::dec;
    out << " at " << thread.site.where.file_name() << ":" << thread.site.where.line();
  }
}

}  // namespace

void Grid::throw_fault(const std::string& message) const {
  std::ostringstream out;
  out << message << " in block (" << blockIdx.x << ", " << blockIdx.y << ", " << blockIdx.z << ")";
  for (unsigned i = 0, next; i < size_; i = next) {
    for (next = i + 1; next < size_ && alike(threads_[i], threads_[next]);) ++next;
    out << "\n  thread";
    if (next - i > 1)
      out << "s " << i << " to " << next - 1;
    else
      out << " " << i;
    describe(out, threads_[i]);
  }
  throw Fault(out.str());
}

}  // namespace executor
