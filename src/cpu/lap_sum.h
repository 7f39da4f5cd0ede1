// LapSum at points on the CPU; contracts as in lapsum/lap_sum.h, arguments already checked.
#pragma once

#include "lapsum/rows.h"

namespace lapsum::cpu {

template <class T>
void lap_sum(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<T> y, Threads threads);

template <class T>
void lap_sum_vjp(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gr,
                 Rows<T> gx, double* galpha, Threads threads);

template <class T>
void lap_sum_jvp(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> dr,
                 Rows<const T> dx, const double* dalpha, Rows<T> dy, Threads threads);

}  // namespace lapsum::cpu
