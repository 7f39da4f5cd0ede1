// Short rows side by side: sorted alone, and with all that a soft rank or sort makes of them.
#include "cpu/primitives/tile.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

template <class Work>
void on_tile(benchmark::State& state, Work&& work) {
  const std::ptrdiff_t n = state.range(0), rows = cpu::tile_rows();
  const std::vector<float> x = normals<float>(rows * n);
  std::vector<float> out(x.size());
  cpu::Tile tile{};
  cpu::Tile::To to{};
  tile.rows = rows;
  tile.n = n;
  tile.sign.fill(1);
  tile.alpha.fill(0.5);
  for (std::ptrdiff_t l = 0; l < rows; ++l) {
    tile.x[static_cast<std::size_t>(l)] = x.data() + l * n;
    to[static_cast<std::size_t>(l)] = out.data() + l * n;
  }
  cpu::Arena arena;
  for (auto _ : state) {
    const cpu::Arena::Scope scope(arena);
    work(tile, to, arena);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * rows * n);
}

void sort_rows(benchmark::State& state) {
  on_tile(state, [](const cpu::Tile& tile, const cpu::Tile::To&, cpu::Arena& arena) {
    benchmark::DoNotOptimize(cpu::sort_rows(tile, arena).values);
  });
}
void rank_tile(benchmark::State& state) { on_tile(state, cpu::rank_tile); }
void sort_tile(benchmark::State& state) { on_tile(state, cpu::sort_tile); }

void lengths(benchmark::internal::Benchmark* b) {
  b->ArgName("n")->Arg(16)->Arg(64)->Arg(256)->Arg(1000);
}
BENCHMARK(sort_rows)->Apply(lengths);
BENCHMARK(rank_tile)->Apply(lengths);
BENCHMARK(sort_tile)->Apply(lengths);

}  // namespace
}  // namespace lapsum::bench
