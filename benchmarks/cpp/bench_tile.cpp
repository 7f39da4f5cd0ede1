// Rows side by side: sorted alone, with all that a soft rank or sort makes of them, and their gradients,
// the orders of the rows being known.
#include "cpu/primitives/tile.h"
#include "rows.h"

namespace lapsum::bench {
namespace {

struct Batch {
  explicit Batch(std::ptrdiff_t n)
      : x(normals<float>(cpu::tile_rows() * n)), out(x.size()), orders(x.size()) {
    tile.rows = cpu::tile_rows();
    tile.n = n;
    tile.sign.fill(1);
    tile.alpha.fill(0.5);
    std::vector<double> sorted(static_cast<std::size_t>(n));
    for (std::ptrdiff_t l = 0; l < tile.rows; ++l) {
      const auto lane = static_cast<std::size_t>(l);
      tile.x[lane] = x.data() + l * n;
      to[lane] = out.data() + l * n;
      cpu::argsort(tile.x[lane], n, false, sorted.data(), orders.data() + l * n, arena, 1);
      kept[lane] = orders.data() + l * n;
    }
  }

  std::vector<float> x, out;
  std::vector<cpu::Index> orders;
  cpu::Arena arena;
  cpu::Tile tile{};
  cpu::Tile::To to{};
  cpu::Tile::Kept kept{};
};

template <class Work>
void on_tile(benchmark::State& state, Work&& work) {
  Batch batch(state.range(0));
  for (auto _ : state) {
    const cpu::Arena::Scope scope(batch.arena);
    work(batch);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(batch.x));
}

void sort_rows(benchmark::State& state) {
  on_tile(state,
          [](Batch& b) { benchmark::DoNotOptimize(cpu::sort_rows(b.tile, b.arena).values); });
}
void rank_tile(benchmark::State& state) {
  on_tile(state, [](Batch& b) { cpu::rank_tile(b.tile, b.to, {}, b.arena); });
}
void sort_tile(benchmark::State& state) {
  on_tile(state, [](Batch& b) { cpu::sort_tile(b.tile, b.to, {}, b.arena); });
}
void rank_tile_vjp(benchmark::State& state) {
  on_tile(state, [](Batch& b) { cpu::rank_tile_vjp(b.tile, b.tile.x, b.to, b.kept, b.arena); });
}
void sort_tile_vjp(benchmark::State& state) {
  on_tile(state, [](Batch& b) { cpu::sort_tile_vjp(b.tile, b.tile.x, b.to, b.kept, b.arena); });
}

void lengths(benchmark::internal::Benchmark* b) {
  b->ArgName("n")->Arg(16)->Arg(64)->Arg(256)->Arg(1000)->Arg(cpu::kTileLength);
}
void longer(benchmark::internal::Benchmark* b) {
  b->ArgName("n")->Arg(1025)->Arg(cpu::kTileLength)->Arg(10450);
}
BENCHMARK(sort_rows)->Apply(lengths);
BENCHMARK(rank_tile)->Apply(lengths);
BENCHMARK(sort_tile)->Apply(lengths);
BENCHMARK(rank_tile_vjp)->Apply(longer);
BENCHMARK(sort_tile_vjp)->Apply(longer);

}  // namespace
}  // namespace lapsum::bench
