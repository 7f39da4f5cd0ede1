// Soft top-k on the CPU; contracts as in lapsum/soft_topk.h, arguments already checked.
#pragma once

#include "lapsum/rows.h"

namespace lapsum::cpu {

template <class T>
void soft_topk(Rows<const T> x, const Levels& k, const PerRow& alpha, Rows<T> p,
               Threshold* thresholds, Order order, Threads threads);

template <class T>
void soft_topk_vjp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                   const Threshold* thresholds, Rows<const T> g, Rows<T> gx, double* gk,
                   double* galpha, Order order, Threads threads);

template <class T>
void soft_topk_jvp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                   const Threshold* thresholds, Rows<const T> dx, const double* dk,
                   const double* dalpha, Rows<T> dp, Order order, Threads threads);

template <class T>
void weighted_soft_topk(Rows<const T> x, Rows<const T> weights, const Levels& k,
                        const PerRow& alpha, Rows<T> p, Threshold* thresholds, Order order,
                        Threads threads);

template <class T>
void weighted_soft_topk_vjp(Rows<const T> x, Rows<const T> weights, const Levels& k,
                            const PerRow& alpha, const Threshold* thresholds, Rows<const T> g,
                            Rows<T> gx, Rows<T> gweights, double* gk, double* galpha, Order order,
                            Threads threads);

template <class T>
void weighted_soft_topk_jvp(Rows<const T> x, Rows<const T> weights, const Levels& k,
                            const PerRow& alpha, const Threshold* thresholds, Rows<const T> dx,
                            Rows<const T> dweights, const double* dk, const double* dalpha,
                            Rows<T> dp, Order order, Threads threads);

}  // namespace lapsum::cpu
