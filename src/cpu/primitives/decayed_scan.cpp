// Blocks are scanned by themselves (block_scan.h) and joined by a scan over their ends.
#include "cpu/primitives/decayed_scan.h"

#include <limits>
#include <utility>

#include "cpu/primitives/anchored.h"
#include "cpu/primitives/block_scan.h"
#include "cpu/primitives/laplace.h"
#include "cpu/primitives/parallel.h"

namespace lapsum::cpu {
namespace {

// Rows of at most so many chunks keep the decays and sums of all: 8 MB.
constexpr std::ptrdiff_t kKeptChunks = 8;

// body(b) for the blocks, a chunk of values at a time.
template <class Body>
void for_each_block(const Decays& decays, int threads, Body&& body) {
  for_each_chunk(decays.size(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t b = begin / Decays::kBlock; decays.begin(b) < end; ++b) body(b);
  });
}

// The scans of one set of weights, in the directions asked for: blocks by themselves, what they see
// of each other, and both together.
template <std::size_t Count>
std::array<std::span<double>, Count> scan(const Decays& decays, std::span<const double> w,
                                          const std::array<Toward, Count>& directions, Arena& arena,
                                          int threads) {
  std::array<std::span<double>, Count> out;
  std::array<BlockScan, Count> scans;
  const auto on_blocks = [&](auto&& body) {
    constexpr std::ptrdiff_t kTogether = 8;  // so that both directions find them in the cache
    for_each_chunk(decays.size(), threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      const std::ptrdiff_t last = (end + Decays::kBlock - 1) / Decays::kBlock;
      for (std::ptrdiff_t b = begin / Decays::kBlock; b < last; b += kTogether) {
        for (const BlockScan& one : scans) body(one, b, std::min(b + kTogether, last));
      }
    });
  };
  for (std::size_t i = 0; i < Count; ++i) {
    out[i] = arena.take<double>(decays.size());
    scans[i] = {directions[i], w.data(), out[i].data(),
                arena.take<double>(decays.ends.size()).data()};
  }
  on_blocks([&](const BlockScan& one, std::ptrdiff_t first, std::ptrdiff_t last) {
    sum_blocks(decays, one, first, last);
  });
  for (BlockScan& one : scans) {
    const std::span<const double> ends(one.at_ends, decays.ends.r.size());
    one.at_ends = stepped_scan<0>(decays.ends, one.toward, {ends}, arena, threads)[0].data();
  }
  on_blocks([&](const BlockScan& one, std::ptrdiff_t first, std::ptrdiff_t last) {
    finish_blocks(decays, one, first, last);
  });
  return out;
}

// The decays of one block, and its ends.
void fill_block(const Decays& decays, std::ptrdiff_t b, double* rise, double* fall, double* ends) {
  const double rate = std::min(1 / decays.alpha, std::numeric_limits<double>::max());
  const double* r = decays.r.data();
  const std::ptrdiff_t begin = decays.begin(b);
  const std::ptrdiff_t end = decays.end(b);
  ends[2 * b] = r[begin];
  ends[2 * b + 1] = r[end - 1];
  if (decays.is_narrow(b)) {
    const double middle = 0.5 * r[begin] + 0.5 * r[end - 1];
    rise_and_fall(r + begin, end - begin, middle, decays.alpha, rise + begin, fall + begin);
    return;
  }
  for (std::ptrdiff_t j = begin + 1; j < end; ++j) rise[j] = (r[j] - r[j - 1]) * rate;
  exp_abs(rise + begin + 1, end - begin - 1, rise + begin + 1);
  rise[begin] = 0;
  std::copy(rise + begin + 1, rise + end, fall + begin);
  fall[end - 1] = 0;
}

void block_to_next(const Decays& decays, std::ptrdiff_t b, double* out) {
  const double* rise = decays.rise.data();
  const double* fall = decays.fall.data();
  const std::ptrdiff_t begin = decays.begin(b);
  const std::ptrdiff_t last = decays.end(b) - 1;
  if (decays.is_narrow(b)) {
    for (std::ptrdiff_t j = begin; j < last; ++j) out[j] = rise[j] * fall[j + 1];
  } else {
    std::copy(fall + begin, fall + last, out + begin);
  }
  const auto end = static_cast<std::size_t>(2 * b + 1);
  out[last] = end < decays.ends.keep.size() ? decays.ends.keep[end] : 0;
}

}  // namespace

Decays make_decays(std::span<const double> sorted, double alpha, Arena& arena, int threads) {
  const std::ptrdiff_t n = std::ssize(sorted);
  std::span<double> rise = arena.take<double>(n);
  std::span<double> fall = arena.take<double>(n);
  Decays decays{sorted, rise, fall, {}, alpha};
  std::span<double> ends = arena.take<double>(2 * decays.blocks());
  for_each_block(decays, threads, [&](std::ptrdiff_t b) {
    fill_block(decays, b, rise.data(), fall.data(), ends.data());
  });
  decays.ends = make_steps(ends, alpha, arena, threads);
  return decays;
}

std::span<const double> decays_to_next(const Decays& decays, Arena& arena, int threads) {
  std::span<double> out = arena.take<double>(decays.size());
  for_each_block(decays, threads, [&](std::ptrdiff_t b) { block_to_next(decays, b, out.data()); });
  return out;
}

void decays_to_next(const Decays& decays, double* out) {
  for (std::ptrdiff_t b = 0; b < decays.blocks(); ++b) block_to_next(decays, b, out);
}

template <int Order>
Moments<Order> decayed_scan(const Decays& decays, Toward toward, const Weights<Order>& w,
                            Arena& arena, int threads) {
  if constexpr (Order > 0) {
    const Steps steps = make_steps(decays.r, decays.alpha, arena, threads);
    return stepped_scan<Order>(steps, toward, w, arena, threads);
  } else {
    return scan<1>(decays, w[0], {toward}, arena, threads);
  }
}

template <int Order>
Scans<Order> scan_both(const Decays& decays, const Weights<Order>& w, Arena& arena, int threads) {
  if constexpr (Order > 0) {
    const Steps steps = make_steps(decays.r, decays.alpha, arena, threads);
    return {stepped_scan<Order>(steps, Toward::right, w, arena, threads),
            stepped_scan<Order>(steps, Toward::left, w, arena, threads)};
  } else {
    const auto [right, left] = scan<2>(decays, w[0], {Toward::right, Toward::left}, arena, threads);
    return {{right}, {left}};
  }
}

void scan_in_chunks(std::span<const double> sorted, double alpha,
                    std::span<const SideWeights> weights, Arena& arena, int threads,
                    const std::function<void(const ChunkOfScans&)>& body) {
  const std::ptrdiff_t n = std::ssize(sorted);
  const std::ptrdiff_t chunks = chunk_count(n);
  const Arena::Scope scope(arena);
  std::span<double> ends = arena.take<double>(2 * Decays{sorted, {}, {}, {}, alpha}.blocks());
  std::vector<BlockScan>
      scans;  // of the whole row, without `at`: first to its ends, then from them
  for (const SideWeights& w : weights) {
    const auto add = [&](Toward toward, std::span<const double> of) {
      double* at_ends = arena.take<double>(std::ssize(ends)).data();
      scans.push_back({toward, of.data(), nullptr, at_ends});
    };
    add(Toward::right, w.right);
    add(Toward::left, w.left);
  }
  // What was made on the way forth is made again on the way back, but for short rows.
  const bool kept = chunks <= kKeptChunks;
  const std::ptrdiff_t room = (2 + std::ssize(scans)) * std::min(n, kChunk);
  const std::span<double> rooms = arena.take<double>((kept ? chunks : threads) * room);
  Steps steps;

  // `sums` go to the ends of the blocks; with `joined`, what comes from there is added.
  const auto on_chunk = [&](std::ptrdiff_t c, int thread, const std::vector<BlockScan>& sums,
                            const std::vector<BlockScan>* joined) {
    const std::ptrdiff_t begin = c * kChunk;
    const std::ptrdiff_t first_end = 2 * begin / Decays::kBlock;
    const auto size = static_cast<std::size_t>(std::min(n - begin, kChunk));
    double* free = rooms.data() + (kept ? c : thread) * room;
    const auto take = [&] { return std::exchange(free, free + size); };
    double* rise = take();
    double* fall = take();
    Decays decays{sorted.subspan(static_cast<std::size_t>(begin), size),
                  {rise, size},
                  {fall, size},
                  {},
                  alpha};
    const std::ptrdiff_t blocks = decays.blocks();
    const bool made = joined && kept;
    for (std::ptrdiff_t b = 0; !made && b < blocks; ++b) {
      fill_block(decays, b, rise, fall, ends.data() + first_end);
    }
    const auto part = [&](const BlockScan& scan, double* at) {
      return BlockScan{scan.toward, scan.w ? scan.w + begin : nullptr, at,
                       scan.at_ends + first_end};
    };
    ChunkOfScans out{begin, begin + static_cast<std::ptrdiff_t>(size), decays, {}};
    for (std::size_t i = 0; i < sums.size(); ++i) {
      double* at = take();
      if (!made) sum_blocks(decays, part(sums[i], at), 0, blocks);
      if (!joined) continue;
      finish_blocks(decays, part((*joined)[i], at), 0, blocks);
      if (i % 2 == 0) out.scans.emplace_back();
      Scans<0>& both = out.scans.back();
      (i % 2 == 0 ? both.right : both.left)[0] = std::span<double>(at, size);
    }
    if (!joined) return;
    out.decays.ends.keep = steps.keep.subspan(static_cast<std::size_t>(first_end));
    body(out);
  };

  parallel_for(chunks, threads,
               [&](std::ptrdiff_t c, int thread) { on_chunk(c, thread, scans, nullptr); });
  steps = make_steps(ends, alpha, arena, threads);
  std::vector<BlockScan> joined = scans;
  for (BlockScan& scan : joined) {
    const std::span<const double> at_ends(scan.at_ends, ends.size());
    scan.at_ends = stepped_scan<0>(steps, scan.toward, {at_ends}, arena, threads)[0].data();
  }
  parallel_for(chunks, threads,
               [&](std::ptrdiff_t c, int thread) { on_chunk(c, thread, scans, &joined); });
}

template Moments<0> decayed_scan<0>(const Decays&, Toward, const Weights<0>&, Arena&, int);
template Moments<1> decayed_scan<1>(const Decays&, Toward, const Weights<1>&, Arena&, int);
template Moments<2> decayed_scan<2>(const Decays&, Toward, const Weights<2>&, Arena&, int);
template Moments<3> decayed_scan<3>(const Decays&, Toward, const Weights<3>&, Arena&, int);

template Scans<0> scan_both<0>(const Decays&, const Weights<0>&, Arena&, int);
template Scans<1> scan_both<1>(const Decays&, const Weights<1>&, Arena&, int);
template Scans<2> scan_both<2>(const Decays&, const Weights<2>&, Arena&, int);
template Scans<3> scan_both<3>(const Decays&, const Weights<3>&, Arena&, int);

}  // namespace lapsum::cpu
