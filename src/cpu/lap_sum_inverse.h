// The inverse of LapSum on the CPU, which is also soft sort and soft quantile; contracts as in
// lapsum/lap_sum_inverse.h, arguments already checked. Order::descending solves on -r and gives -b.
// Where levels are many, `keep` receives the argsort of every row for the derivatives.
#pragma once

#include "cpu/primitives/argsort.h"
#include "cpu/primitives/levels.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

template <class T>
void lap_sum_inverse(Rows<const T> r, const AllLevels& k, const PerRow& alpha, Rows<T> b,
                     Order order, Threads threads, Rows<Index> keep = {});

template <class T>
void lap_sum_inverse_vjp(Rows<const T> r, const AllLevels& k, const PerRow& alpha, Rows<const T> g,
                         Rows<T> gr, double* gk, double* galpha, Order order, Threads threads,
                         Rows<const Index> kept = {});

template <class T>
void lap_sum_inverse_jvp(Rows<const T> r, const AllLevels& k, const PerRow& alpha, Rows<const T> dr,
                         const double* dk, const double* dalpha, Rows<T> db, Order order,
                         Threads threads, Rows<const Index> kept = {});

/// What levels of a weighted row are counted in: weight, or as shares of all the weight there is.
enum class LevelUnit { weight, share };

template <class T>
void weighted_lap_sum_inverse(Rows<const T> r, Rows<const T> weights, const Levels& k,
                              LevelUnit unit, const PerRow& alpha, Rows<T> b, Order order,
                              Threads threads);

template <class T>
void weighted_lap_sum_inverse_vjp(Rows<const T> r, Rows<const T> weights, const Levels& k,
                                  LevelUnit unit, const PerRow& alpha, Rows<const T> g, Rows<T> gr,
                                  Rows<T> gweights, double* gk, double* galpha, Order order,
                                  Threads threads);

template <class T>
void weighted_lap_sum_inverse_jvp(Rows<const T> r, Rows<const T> weights, const Levels& k,
                                  LevelUnit unit, const PerRow& alpha, Rows<const T> dr,
                                  Rows<const T> dweights, const double* dk, const double* dalpha,
                                  Rows<T> db, Order order, Threads threads);

}  // namespace lapsum::cpu
