// Soft sort on the CPU: the inverse of LapSum at the half-integers. Contracts as in
// lapsum/soft_sort.h, arguments already checked.
#pragma once

#include "cpu/primitives/argsort.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

template <class T>
void soft_sort(Rows<const T> x, const PerRow& alpha, Rows<T> sorted, Order order, Threads threads,
               Rows<Index> keep);

template <class T>
void soft_sort_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                   double* galpha, Order order, Threads threads, Rows<const Index> kept);

template <class T>
void soft_sort_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> dsorted, Order order, Threads threads, Rows<const Index> kept);

}  // namespace lapsum::cpu
