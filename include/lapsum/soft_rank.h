// Soft ranks: where each element stands among the others.
#pragma once

#include <cstdint>

#include "lapsum/rows.h"

namespace lapsum {

/// rank[j] = sum over l != j of F((x[j] - x[l]) / alpha): 0-based, in [0, n - 1], in sum
/// n (n - 1) / 2. Infinities are tied among themselves at the ends. NaN in a row, or an alpha of 0,
/// NaN or infinity, makes the row NaN. O(n log n) time, O(n) memory. x, rank: rows x n.
/// `argsort` (rows x n), if it has data, receives the elements of each row in order, ties as they
/// stand in the row: what soft_rank_vjp and _jvp otherwise sort for again. Rows shorter than
/// kArgsortFrom<T>, rows that come out NaN and padding are passed over, here and there.
/// Throws std::invalid_argument if shapes differ or alpha, given as a number, is out of its domain.
template <class T>
void soft_rank(Rows<const T> x, PerRow alpha, Rows<T> rank, Order order = Order::ascending,
               Threads threads = 0, Rows<std::uint32_t> argsort = {});

/// Gradients of <g, rank> with respect to x and alpha (one per row). Outputs without data are
/// skipped; `argsort`, as soft_rank wrote it, may have none.
/// Throws std::invalid_argument as soft_rank, and if an argsort is not that of its row.
template <class T>
void soft_rank_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx, double* galpha,
                   Order order = Order::ascending, Threads threads = 0,
                   Rows<const std::uint32_t> argsort = {});

/// Derivative of rank along (dx, dalpha); tangents without data are zero. `argsort` as above.
template <class T>
void soft_rank_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> drank, Order order = Order::ascending, Threads threads = 0,
                   Rows<const std::uint32_t> argsort = {});

/// With weights: rank[j] = sum over l != j of weights[l] F((x[j] - x[l]) / alpha), between 0 and what
/// the others weigh together. An element of weight 0 has a rank, but does not count. Elements at one
/// infinity count half of each other. A weight that is negative, NaN or infinite makes the row NaN.
/// All else as above. weights: rows x n.
template <class T>
void weighted_soft_rank(Rows<const T> x, Rows<const T> weights, PerRow alpha, Rows<T> rank,
                        Order order = Order::ascending, Threads threads = 0);

/// Gradients of <g, rank> with respect to x, weights and alpha. Outputs without data are skipped.
template <class T>
void weighted_soft_rank_vjp(Rows<const T> x, Rows<const T> weights, PerRow alpha, Rows<const T> g,
                            Rows<T> gx, Rows<T> gweights, double* galpha,
                            Order order = Order::ascending, Threads threads = 0);

/// Derivative of rank along (dx, dweights, dalpha); tangents without data are zero.
template <class T>
void weighted_soft_rank_jvp(Rows<const T> x, Rows<const T> weights, PerRow alpha, Rows<const T> dx,
                            Rows<const T> dweights, const double* dalpha, Rows<T> drank,
                            Order order = Order::ascending, Threads threads = 0);

}  // namespace lapsum
