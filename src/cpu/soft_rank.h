// Soft rank on the CPU; contracts as in lapsum/soft_rank.h, arguments already checked.
#pragma once

#include "cpu/primitives/argsort.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

template <class T>
void soft_rank(Rows<const T> x, const PerRow& alpha, Rows<T> rank, Order order, Threads threads,
               Rows<Index> keep);

template <class T>
void soft_rank_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                   double* galpha, Order order, Threads threads, Rows<const Index> kept);

template <class T>
void soft_rank_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> drank, Order order, Threads threads, Rows<const Index> kept);

template <class T>
void weighted_soft_rank(Rows<const T> x, Rows<const T> weights, const PerRow& alpha, Rows<T> rank,
                        Order order, Threads threads);

template <class T>
void weighted_soft_rank_vjp(Rows<const T> x, Rows<const T> weights, const PerRow& alpha,
                            Rows<const T> g, Rows<T> gx, Rows<T> gweights, double* galpha,
                            Order order, Threads threads);

template <class T>
void weighted_soft_rank_jvp(Rows<const T> x, Rows<const T> weights, const PerRow& alpha,
                            Rows<const T> dx, Rows<const T> dweights, const double* dalpha,
                            Rows<T> drank, Order order, Threads threads);

}  // namespace lapsum::cpu
