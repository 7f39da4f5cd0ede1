// An argsort that a value kept for its derivatives: values come in its order without another sort. It
// is checked as it is read, so that a wrong one reads nothing beyond the row.
#pragma once

#include <exception>

#include "cpu/primitives/argsort.h"

namespace lapsum::cpu {

/// Thrown for an order that is not the argsort of its row.
struct WrongArgsort : std::exception {};

/// What argsort(x, ...) gives as `sorted`, its `order` being known. Equal values must stand in the
/// order of the row: then all elements differ, and there is only one such order.
template <class T>
void gather_sorted(const T* x, std::ptrdiff_t n, bool negate, const Index* order, double* sorted,
                   int threads);

}  // namespace lapsum::cpu
