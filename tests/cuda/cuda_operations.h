// The operations of tests/cpp/operations.h, run on a device: the same arguments and definitions, so
// that what is tested there is tested here.
#pragma once

#include <map>

#include "device.h"
#include "lapsum/cuda/lapsum.h"
#include "operations.h"

namespace lapsum::test {

/// The arguments of a call on a device, E being the type of its elements.
template <class T, class E>
struct OnDevice : Device<T, E> {
  explicit OnDevice(const Call<T>& c)
      : rows(c.x.count),
        n(c.x.length),
        m(std::max(c.second.length, c.levels.count())),
        x(this->in(c.x)),
        second(this->in(c.second)),
        levels(this->in(c.levels, rows)),
        alpha(this->in(c.alpha, rows)),
        order(c.order) {}

  /// With the workspace that the operation asks for.
  using Size = std::ptrdiff_t;
  cuda::Launch where(std::size_t (*bytes)(Size, Size)) { return this->launch(bytes(rows, n)); }
  cuda::Launch where(std::size_t (*bytes)(Size, Size, Size)) {
    return this->launch(bytes(rows, n, m));
  }

  Size rows, n, m;
  Rows<const E> x, second;
  Levels levels;
  PerRow alpha;
  Order order;
};

/// Operations of x and alpha.
template <class T, class E, auto value, auto vjp, auto jvp, auto workspace>
void run_rows(Operation<T>& op) {
  using On = OnDevice<T, E>;
  op.value = [](const Call<T>& c, Rows<T> y) {
    On on(c);
    value(on.x, on.alpha, on.out(y), on.order, on.where(workspace));
  };
  op.vjp = [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
    On on(c);
    vjp(on.x, on.alpha, on.in(g), on.out(to.x), on.out(to.alpha, on.rows), on.order,
        on.where(workspace));
  };
  op.jvp = [](const Call<T>& c, const Tangents<T>& d, Rows<T> y) {
    On on(c);
    jvp(on.x, on.alpha, on.in(d.x), on.in(d.alpha, on.rows), on.out(y), on.order,
        on.where(workspace));
  };
}

/// Operations of x, levels and alpha.
template <class T, class E, auto value, auto vjp, auto jvp, auto workspace>
void run_levels(Operation<T>& op) {
  using On = OnDevice<T, E>;
  op.value = [](const Call<T>& c, Rows<T> b) {
    On on(c);
    value(on.x, on.levels, on.alpha, on.out(b), on.where(workspace));
  };
  op.vjp = [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
    On on(c);
    vjp(on.x, on.levels, on.alpha, on.in(g), on.out(to.x), on.out(to.levels, on.rows * on.m),
        on.out(to.alpha, on.rows), on.where(workspace));
  };
  op.jvp = [](const Call<T>& c, const Tangents<T>& d, Rows<T> b) {
    On on(c);
    jvp(on.x, on.levels, on.alpha, on.in(d.x), on.in(d.levels, on.rows * on.m),
        on.in(d.alpha, on.rows), on.out(b), on.where(workspace));
  };
}

template <class T, class E>
void run_soft_kth_value(Operation<T>& op) {
  using On = OnDevice<T, E>;
  constexpr auto workspace = cuda::soft_kth_value_workspace;
  op.value = [](const Call<T>& c, Rows<T> b) {
    On on(c);
    cuda::soft_kth_value<E>(on.x, on.levels, on.alpha, on.out(b), on.order, on.where(workspace));
  };
  op.vjp = [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
    On on(c);
    cuda::soft_kth_value_vjp<E>(on.x, on.levels, on.alpha, on.in(g), on.out(to.x),
                                on.out(to.levels, on.rows * on.m), on.out(to.alpha, on.rows),
                                on.order, on.where(workspace));
  };
  op.jvp = [](const Call<T>& c, const Tangents<T>& d, Rows<T> b) {
    On on(c);
    cuda::soft_kth_value_jvp<E>(on.x, on.levels, on.alpha, on.in(d.x),
                                on.in(d.levels, on.rows * on.m), on.in(d.alpha, on.rows), on.out(b),
                                on.order, on.where(workspace));
  };
}

template <class T, class E>
void run_lap_sum(Operation<T>& op) {
  using On = OnDevice<T, E>;
  constexpr auto workspace = cuda::lap_sum_workspace;
  op.value = [](const Call<T>& c, Rows<T> y) {
    On on(c);
    cuda::lap_sum<E>(on.x, on.second, on.alpha, on.out(y), on.where(workspace));
  };
  op.vjp = [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
    On on(c);
    cuda::lap_sum_vjp<E>(on.x, on.second, on.alpha, on.in(g), on.out(to.x), on.out(to.second),
                         on.out(to.alpha, on.rows), on.where(workspace));
  };
  op.jvp = [](const Call<T>& c, const Tangents<T>& d, Rows<T> y) {
    On on(c);
    cuda::lap_sum_jvp<E>(on.x, on.second, on.alpha, on.in(d.x), on.in(d.second),
                         on.in(d.alpha, on.rows), on.out(y), on.where(workspace));
  };
}

template <class T, class E, Apply apply>
void run_soft_permute(Operation<T>& op) {
  using On = OnDevice<T, E>;
  constexpr auto where = [](On& on) {
    return on.launch(cuda::soft_permute_workspace(on.rows, on.n, kColumns));
  };
  static_assert(std::is_empty_v<decltype(where)>);
  op.value = [](const Call<T>& c, Rows<T> y) {
    On on(c);
    cuda::soft_permute<E>(on.x, on.second, kColumns, on.alpha, on.out(y), apply, on.order,
                          decltype(where)()(on));
  };
  op.vjp = [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
    On on(c);
    cuda::soft_permute_vjp<E>(on.x, on.second, kColumns, on.alpha, on.in(g), on.out(to.x),
                              on.out(to.second), on.out(to.alpha, on.rows), apply, on.order,
                              decltype(where)()(on));
  };
  op.jvp = [](const Call<T>& c, const Tangents<T>& d, Rows<T> y) {
    On on(c);
    cuda::soft_permute_jvp<E>(on.x, on.second, kColumns, on.alpha, on.in(d.x), on.in(d.second),
                              on.in(d.alpha, on.rows), on.out(y), apply, on.order,
                              decltype(where)()(on));
  };
}

/// soft_topk and log_soft_topk; thresholds are solved again for derivatives.
template <class T, class E, auto value, auto vjp, auto jvp, auto workspace>
void run_mask(Operation<T>& op) {
  using On = OnDevice<T, E>;
  op.value = [](const Call<T>& c, Rows<T> p) {
    On on(c);
    value(on.x, on.levels, on.alpha, on.out(p), nullptr, on.order, on.where(workspace));
  };
  op.vjp = [](const Call<T>& c, Rows<const T> g, const Gradients<T>& to) {
    On on(c);
    vjp(on.x, on.levels, on.alpha, nullptr, on.in(g), on.out(to.x),
        on.out(to.levels, on.rows * on.m), on.out(to.alpha, on.rows), on.order,
        on.where(workspace));
  };
  op.jvp = [](const Call<T>& c, const Tangents<T>& d, Rows<T> p) {
    On on(c);
    jvp(on.x, on.levels, on.alpha, nullptr, on.in(d.x), on.in(d.levels, on.rows * on.m),
        on.in(d.alpha, on.rows), on.out(p), on.order, on.where(workspace));
  };
}

/// Device element E, host type T.
template <class T, class E = T>
const std::vector<Operation<T>>& cuda_operations() {
  using Run = void (*)(Operation<T>&);
  static const std::vector<Operation<T>> all = [] {
    const std::map<std::string_view, Run> runs = {
        {"lap_sum", run_lap_sum<T, E>},
        {"lap_sum_inverse",
         run_levels<T, E, cuda::lap_sum_inverse<E>, cuda::lap_sum_inverse_vjp<E>,
                    cuda::lap_sum_inverse_jvp<E>, cuda::lap_sum_inverse_workspace>},
        {"soft_kth_value", run_soft_kth_value<T, E>},
        {"soft_quantile", run_levels<T, E, cuda::soft_quantile<E>, cuda::soft_quantile_vjp<E>,
                                     cuda::soft_quantile_jvp<E>, cuda::soft_quantile_workspace>},
        {"soft_rank", run_rows<T, E, cuda::soft_rank<E>, cuda::soft_rank_vjp<E>,
                               cuda::soft_rank_jvp<E>, cuda::soft_rank_workspace>},
        {"soft_sort", run_rows<T, E, cuda::soft_sort<E>, cuda::soft_sort_vjp<E>,
                               cuda::soft_sort_jvp<E>, cuda::soft_sort_workspace>},
        {"soft_topk", run_mask<T, E, cuda::soft_topk<E>, cuda::soft_topk_vjp<E>,
                               cuda::soft_topk_jvp<E>, cuda::soft_topk_workspace>},
        {"log_soft_topk", run_mask<T, E, cuda::log_soft_topk<E>, cuda::log_soft_topk_vjp<E>,
                                   cuda::log_soft_topk_jvp<E>, cuda::log_soft_topk_workspace>},
        {"soft_permutation",
         run_rows<T, E, cuda::soft_permutation<E>, cuda::soft_permutation_vjp<E>,
                  cuda::soft_permutation_jvp<E>, cuda::soft_permutation_workspace>}};
    std::vector<Operation<T>> out;
    bool transposed = false;  // the second soft_permute of the table
    for (Operation<T> op : operations<T>()) {
      if (op.weighted) continue;  // on the CPU alone
      if (std::string_view(op.name) == "soft_permute") {
        if (transposed) {
          run_soft_permute<T, E, Apply::transpose>(op);
        } else {
          run_soft_permute<T, E, Apply::permutation>(op);
        }
        transposed = true;
      } else if (const auto run = runs.find(op.name); run != runs.end()) {
        run->second(op);
      } else {
        throw std::logic_error(op.name + std::string(" is not on the device"));
      }
      out.push_back(op);
    }
    return out;
  }();
  return all;
}

template <class T>
const Operation<T>& cuda_operation(std::string_view name) {
  return *std::find_if(cuda_operations<T>().begin(), cuda_operations<T>().end(),
                       [&](const Operation<T>& op) { return op.name == name; });
}

}  // namespace lapsum::test
