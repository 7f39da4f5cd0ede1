// Blocks are scanned by themselves (block_scan.h) and joined by a scan over their ends; of rows of float
// segments are (segment_scan.h).
#include "cpu/primitives/decayed_scan.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "cpu/primitives/anchored.h"
#include "cpu/primitives/block_scan.h"
#include "cpu/primitives/bracket.h"
#include "cpu/primitives/laplace.h"
#include "cpu/primitives/parallel.h"
#include "cpu/primitives/segment_scan.h"
#include "instantiate.h"

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

// The scan with what comes from other blocks at their ends, in place of what each adds up to.
BlockScan join(const BlockScan& scan, const Steps& ends, Arena& arena, int threads) {
  const std::span<const double> sums(scan.at_ends, ends.r.size());
  double* joined = stepped_scan<0>(ends, scan.toward, {sums}, arena, threads)[0].data();
  return {scan.toward, scan.w, scan.at, joined};
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
  for (BlockScan& one : scans) one = join(one, decays.ends, arena, threads);
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
  rise[begin] = 1;
  std::copy(rise + begin + 1, rise + end, fall + begin);
  fall[end - 1] = 1;
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

// Scans of several weights: every chunk by itself, what the chunks see of each other, and every chunk
// once more with that. What was made of a chunk is kept for the second time in short rows alone.
class ChunkedScan {
  static_assert(Chunks::kStep % Decays::kBlock == 0);

 public:
  ChunkedScan(std::span<const double> sorted, double alpha, std::span<const SideWeights> weights,
              Arena& arena, int threads)
      : row_{sorted, {}, {}, {}, alpha},
        ends_(arena.take<double>(2 * row_.blocks())),
        chunks_(row_.size()),
        kept_(chunks_.count() <= kKeptChunks),
        room_((2 + 2 * std::ssize(weights)) * std::min(row_.size(), chunks_.length)),
        rooms_(arena.take<double>((kept_ ? chunks_.count() : threads) * room_)) {
    for (const SideWeights& w : weights) {
      scans_.push_back({Toward::right, w.right.data(), nullptr, ends_like(arena)});
      scans_.push_back({Toward::left, w.left.data(), nullptr, ends_like(arena)});
    }
  }

  template <class Body>
  void run(Arena& arena, int threads, Body&& body) {
    parallel_for(chunks_.count(), threads,
                 [&](std::ptrdiff_t c, int thread) { sum(Chunk(*this, c, thread)); });
    row_.ends = make_steps(ends_, row_.alpha, arena, threads);
    for (const BlockScan& scan : scans_) joined_.push_back(join(scan, row_.ends, arena, threads));
    parallel_for(chunks_.count(), threads, [&](std::ptrdiff_t c, int thread) {
      const Chunk chunk(*this, c, thread);
      if (!kept_) sum(chunk);
      body(finish(chunk));
    });
  }

 private:
  // Where the numbers of chunk c lie.
  struct Chunk {
    Chunk(const ChunkedScan& all, std::ptrdiff_t c, int thread)
        : begin(all.chunks_.begin(c)),
          first_end(2 * begin / Decays::kBlock),
          size(static_cast<std::size_t>(all.chunks_.end(c) - begin)),
          rise(all.rooms_.data() + (all.kept_ ? c : thread) * all.room_),
          fall(rise + size),
          decays{all.row_.r.subspan(static_cast<std::size_t>(begin), size),
                 {rise, size},
                 {fall, size},
                 {},
                 all.row_.alpha} {}

    // Its part of scan i.
    BlockScan part(const std::vector<BlockScan>& scans, std::size_t i) const {
      const BlockScan& scan = scans[i];
      return {scan.toward, scan.w ? scan.w + begin : nullptr, fall + (i + 1) * size,
              scan.at_ends + first_end};
    }

    std::ptrdiff_t begin, first_end;
    std::size_t size;
    double* rise;
    double* fall;
    Decays decays;
  };

  double* ends_like(Arena& arena) const { return arena.take<double>(std::ssize(ends_)).data(); }

  void sum(const Chunk& chunk) const {
    const std::ptrdiff_t blocks = chunk.decays.blocks();
    for (std::ptrdiff_t b = 0; b < blocks; ++b) {
      fill_block(chunk.decays, b, chunk.rise, chunk.fall, ends_.data() + chunk.first_end);
    }
    for (std::size_t i = 0; i < scans_.size(); ++i) {
      sum_blocks(chunk.decays, chunk.part(scans_, i), 0, blocks);
    }
  }

  ChunkOfScans finish(const Chunk& chunk) const {
    ChunkOfScans out{chunk.begin, chunk.begin + static_cast<std::ptrdiff_t>(chunk.size),
                     std::vector<Scans<0>>(joined_.size() / 2), chunk.decays};
    for (std::size_t i = 0; i < joined_.size(); ++i) {
      const BlockScan part = chunk.part(joined_, i);
      finish_blocks(chunk.decays, part, 0, chunk.decays.blocks());
      Scans<0>& both = out.scans[i / 2];
      (part.toward == Toward::right ? both.right : both.left)[0] = {part.at, chunk.size};
    }
    out.decays.ends.keep = row_.ends.keep.subspan(static_cast<std::size_t>(chunk.first_end));
    return out;
  }

  Decays row_;  // without rise and fall
  std::span<double> ends_;
  Chunks chunks_;
  bool kept_;
  std::ptrdiff_t room_;
  std::span<double> rooms_;
  std::vector<BlockScan> scans_;   // to the ends of blocks
  std::vector<BlockScan> joined_;  // from there, with what comes from other blocks
};

// The same by segments. A chunk has room for its decays and the two directions of every scan; or the
// whole row has, for one.
class SegmentedScan {
 public:
  SegmentedScan(std::span<const double> sorted, double alpha, std::span<const SideWeights> weights,
                Arena& arena, int threads)
      : SegmentedScan(sorted, alpha, weights, arena) {
    kept_ = chunks_.count() <= kKeptChunks;
    room_ = (1 + 2 * std::ssize(weights)) * (std::min(chunks_.n, chunks_.length) + 1);
    rooms_ = arena.take<double>((kept_ ? chunks_.count() : threads) * room_);
  }
  SegmentedScan(std::span<const double> sorted, double alpha, const SideWeights& weights,
                const OnesTo& to, Arena& arena)
      : SegmentedScan(sorted, alpha, {&weights, 1}, arena) {
    to_ = &to;
  }

  template <class Body>
  void run(int threads, Body&& body) {
    parallel_for(chunks_.count(), threads, [&](std::ptrdiff_t c, int thread) {
      const Chunk chunk(*this, c, thread);
      fill(chunk);
      for (std::ptrdiff_t w = 0; w < std::ssize(weights_); ++w) {
        end(c, w) = sum_segments(part(chunk, w));
      }
      pass(chunk);
    });
    for (std::ptrdiff_t w = 0; w < std::ssize(weights_); ++w) join(w);
    parallel_for(chunks_.count(), threads, [&](std::ptrdiff_t c, int thread) {
      const Chunk chunk(*this, c, thread);
      if (!kept_) fill(chunk);
      ChunkOfScans out{chunk.begin, chunk.begin + chunk.size, {}, {}, chunk.keep};
      const std::ptrdiff_t room = chunk.size + 1;
      for (std::ptrdiff_t w = 0; w < std::ssize(weights_); ++w) {
        double* right = to_ ? to_->right + chunk.begin : chunk.keep + (2 * w + 1) * room;
        double* left = to_ ? to_->left + chunk.begin : right + room;
        finish_segments(part(chunk, w), end(c, w), right, left);
        if (!to_ && are_ones(w)) set_ends(chunk, w, right, left);
        out.scans.push_back({{{{right, chunk.length()}}}, {{{left, chunk.length()}}}});
      }
      body(out);
    });
  }

 private:
  SegmentedScan(std::span<const double> sorted, double alpha, std::span<const SideWeights> weights,
                Arena& arena)
      : r_(sorted),
        alpha_(alpha),
        weights_(weights),
        chunks_(std::ssize(sorted)),
        ends_(arena.take<AtSegments>(chunks_.count() * std::ssize(weights))),
        firsts_(arena.take<double>(chunks_.count() * std::ssize(weights))),
        keeps_(arena.take<Passed>(chunks_.count() * Segments::kCount)) {}

  // What is left of a sum on the way through a segment, and from its last value to the next one.
  struct Passed {
    double through, on;
  };

  struct Chunk {
    Chunk(const SegmentedScan& all, std::ptrdiff_t c, int thread)
        : at(c),
          begin(all.chunks_.begin(c)),
          size(all.chunks_.end(c) - begin),
          keep(all.to_ ? all.to_->keep + begin
                       : all.rooms_.data() + (all.kept_ ? c : thread) * all.room_) {}

    std::size_t length() const { return static_cast<std::size_t>(size); }

    std::ptrdiff_t at, begin, size;
    double* keep;
  };

  AtSegments& end(std::ptrdiff_t chunk, std::ptrdiff_t w) const {
    return ends_[chunk * std::ssize(weights_) + w];
  }

  SegmentScan part(const Chunk& chunk, std::ptrdiff_t w) const {
    const SideWeights& of = weights_[static_cast<std::size_t>(w)];
    const auto from = [&](std::span<const double> all) {
      return all.empty() ? nullptr : all.data() + chunk.begin;
    };
    return {chunk.size, chunk.keep, from(of.right), from(of.left)};
  }

  void fill(const Chunk& chunk) const {
    const bool is_last = chunk.begin + chunk.size == std::ssize(r_);
    keep_to_next(r_.data() + chunk.begin, chunk.size - is_last, alpha_, chunk.keep);
    if (is_last) chunk.keep[chunk.size - 1] = 0;
  }

  void pass(const Chunk& chunk) const {
    const Segments cut(chunk.size);
    const InAlphas in_alphas(alpha_);
    const double* r = r_.data() + chunk.begin;
    for (std::ptrdiff_t s = 0; s < Segments::kCount; ++s) {
      Passed& passed = keeps_[chunk.at * Segments::kCount + s];
      if (cut.begin(s) == cut.end(s)) {
        passed = {1, 1};
      } else {
        const std::ptrdiff_t last = cut.end(s) - 1;
        passed = {std::exp(-in_alphas(r[last] - r[cut.begin(s)])), chunk.keep[last]};
      }
    }
  }

  bool are_ones(std::ptrdiff_t w) const {
    const SideWeights& of = weights_[static_cast<std::size_t>(w)];
    return of.right.empty() && of.left.empty();
  }

  // The scans of ones at the first value of a chunk and of the next, as both of them see it.
  void set_ends(const Chunk& chunk, std::ptrdiff_t w, double* right, double* left) const {
    const auto set = [&](std::ptrdiff_t c, std::ptrdiff_t at) {
      if (c == chunks_.count()) return;
      right[at] = end(c, w).right[0] + 1;
      left[at] = first(c, w);
    };
    set(chunk.at, 0);
    set(chunk.at + 1, chunk.size);
    chunk.keep[chunk.size] = 0;
  }

  // What the first value of a chunk sees on its right, itself included.
  double& first(std::ptrdiff_t chunk, std::ptrdiff_t w) const {
    return firsts_[chunk * std::ssize(weights_) + w];
  }

  // From what segments add up to by themselves to what arrives at each.
  void join(std::ptrdiff_t w) const {
    const std::ptrdiff_t count = chunks_.count() * Segments::kCount;
    const auto step = [&](double& at, double arrives, double through) {
      return std::exchange(at, arrives) + through * arrives;
    };
    double arrives = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      double& at = end(i / Segments::kCount, w).right[i % Segments::kCount];
      arrives = keeps_[i].on * step(at, arrives, keeps_[i].through);
    }
    arrives = 0;
    for (std::ptrdiff_t i = count; i-- > 0;) {
      double& at = end(i / Segments::kCount, w).left[i % Segments::kCount];
      arrives = step(at, arrives, keeps_[i].through);
      if (i % Segments::kCount == 0) first(i / Segments::kCount, w) = arrives;
      if (i > 0) arrives *= keeps_[i - 1].on;
    }
  }

  std::span<const double> r_;
  double alpha_;
  std::span<const SideWeights> weights_;
  Chunks chunks_;
  const OnesTo* to_ = nullptr;
  bool kept_ = true;
  std::ptrdiff_t room_ = 0;
  std::span<double> rooms_;
  std::span<AtSegments> ends_;  // of all segments, for each of the weights
  std::span<double> firsts_;
  std::span<Passed> keeps_;
};

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

template <class T>
void scan_in_chunks(std::span<const double> sorted, double alpha,
                    std::span<const SideWeights> weights, Arena& arena, int threads,
                    const std::function<void(const ChunkOfScans&)>& body) {
  const Arena::Scope scope(arena);
  if constexpr (std::is_same_v<T, float>) {
    SegmentedScan(sorted, alpha, weights, arena, threads).run(threads, body);
  } else {
    ChunkedScan(sorted, alpha, weights, arena, threads).run(arena, threads, body);
  }
}

template <class T>
void scan_ones(std::span<const double> sorted, double alpha, const OnesTo& to, Arena& arena,
               int threads) {
  const SideWeights ones[1];
  if constexpr (std::is_same_v<T, float>) {
    const Arena::Scope scope(arena);
    SegmentedScan(sorted, alpha, ones[0], to, arena).run(threads, [](const ChunkOfScans&) {});
  } else {
    scan_in_chunks<T>(sorted, alpha, ones, arena, threads, [&](const ChunkOfScans& at) {
      const Scans<0>& scans = at.scans[0];
      std::copy(scans.right[0].begin(), scans.right[0].end(), to.right + at.begin);
      std::copy(scans.left[0].begin(), scans.left[0].end(), to.left + at.begin);
      for (std::ptrdiff_t b = 0; b < at.decays.blocks(); ++b) {
        block_to_next(at.decays, b, to.keep + at.begin);
      }
    });
  }
}

LAPSUM_INSTANTIATE(scan_in_chunks)
LAPSUM_INSTANTIATE(scan_ones)

template Moments<0> decayed_scan<0>(const Decays&, Toward, const Weights<0>&, Arena&, int);
template Moments<1> decayed_scan<1>(const Decays&, Toward, const Weights<1>&, Arena&, int);
template Moments<2> decayed_scan<2>(const Decays&, Toward, const Weights<2>&, Arena&, int);
template Moments<3> decayed_scan<3>(const Decays&, Toward, const Weights<3>&, Arena&, int);

template Scans<0> scan_both<0>(const Decays&, const Weights<0>&, Arena&, int);
template Scans<1> scan_both<1>(const Decays&, const Weights<1>&, Arena&, int);
template Scans<2> scan_both<2>(const Decays&, const Weights<2>&, Arena&, int);
template Scans<3> scan_both<3>(const Decays&, const Weights<3>&, Arena&, int);

}  // namespace lapsum::cpu
