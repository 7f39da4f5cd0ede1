// The primitive everything is made of: sums over a sorted row that decay with distance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "cpu/primitives/stepped_scan.h"

namespace lapsum::cpu {

/// Sorted finite values in blocks of kBlock. In a narrow block, whose values lie within kSpan alphas,
/// decays are ratios of exponentials seen from the middle of its ends: rise[j] = e^{(r[j] - middle) /
/// alpha}, fall[j] = 1 / rise[j]. So sums are plain prefix sums, and no products chain up, whose
/// roundings would add up. In a wide block rise[j] is the decay from the value before j and fall[j]
/// that to the value behind it, 1 at the ends of the block, where what comes from outside is seen as it
/// is. `ends` joins blocks: the first and the last value of each, step by step.
struct Decays {
  static constexpr std::ptrdiff_t kBlock = 64;
  static constexpr double kSpan = 16;

  std::span<const double> r, rise, fall;
  Steps ends;
  double alpha = 1;

  std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(r.size()); }
  std::ptrdiff_t blocks() const { return (size() + kBlock - 1) / kBlock; }
  std::ptrdiff_t begin(std::ptrdiff_t block) const { return block * kBlock; }
  std::ptrdiff_t end(std::ptrdiff_t block) const { return std::min(size(), (block + 1) * kBlock); }
  bool is_narrow(std::ptrdiff_t block) const {
    return (r[end(block) - 1] - r[begin(block)]) / alpha <= kSpan;
  }
};

Decays make_decays(std::span<const double> sorted, double alpha, Arena& arena, int threads);

/// e^{-(r[j+1] - r[j]) / alpha} for every value; 0 at the last.
std::span<const double> decays_to_next(const Decays& decays, Arena& arena, int threads);

/// The decayed moments of `w` at every value. O(n).
template <int Order>
Moments<Order> decayed_scan(const Decays& decays, Toward toward, const Weights<Order>& w,
                            Arena& arena, int threads);

/// The two directions of a scan with the same weights.
template <int Order>
struct Scans {
  Moments<Order> right, left;  ///< toward the right, toward the left
};

template <int Order>
Scans<Order> scan_both(const Decays& decays, const Weights<Order>& w, Arena& arena, int threads);

/// Weights of the two directions of a scan, one for each value; empty ones stand for ones.
struct SideWeights {
  std::span<const double> right, left;
};

/// Where the scans of ones go, toward the right and toward the left, and the decays to the next value, 0
/// at the last.
struct OnesTo {
  double *right, *left, *keep;
};

/// T is the type of the row: scans for rows of float are good to 1e-12, and take half the time.
template <class T>
void scan_ones(std::span<const double> sorted, double alpha, const OnesTo& to, Arena& arena,
               int threads);

/// A chunk [begin, end) of a sorted row and its scans, one for each of several weights, which count from
/// `begin`. Of a row of double its decays, of whose ends `keep` alone is known; of a row of float the
/// decays to the next value, and behind the scans of ones those of the next value, if there is one, of
/// the same bits as in its own chunk.
struct ChunkOfScans {
  std::ptrdiff_t begin, end;
  std::vector<Scans<0>> scans;
  Decays decays;
  const double* keep = nullptr;
};

/// Scans of several weights, handed to `body` chunk by chunk, by several threads. A long row needs no
/// memory for what it hands out, and memory costs more than time there: what a chunk has made is made
/// again when the sums of the chunks around it are known. Those of a row of double have the bits of
/// scan_both.
template <class T>
void scan_in_chunks(std::span<const double> sorted, double alpha,
                    std::span<const SideWeights> weights, Arena& arena, int threads,
                    const std::function<void(const ChunkOfScans&)>& body);

}  // namespace lapsum::cpu
