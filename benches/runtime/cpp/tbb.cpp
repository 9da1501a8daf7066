// oneTBB: https://github.com/uxlfoundation/oneTBB
#include "measure.hpp"
#include "problems.hpp"

#include <algorithm>
#include <memory>
#include <oneapi/tbb.h>

// The calling thread is one of the workers.
static tbb::task_arena* arena;

template <class Body> static void spawn(uint64_t count, Body body) {
    tbb::task_group group;
    for (uint64_t i = 0; i < count; i++) group.run(body);
    group.wait();
}

static uint64_t fib(uint64_t n) {
    if (n < 2) return n;
    uint64_t a, b;
    // Cheaper than `parallel_invoke`.
    tbb::task_group group;
    group.run([&] { b = fib(n - 2); });
    a = fib(n - 1);
    group.wait();
    return a + b;
}

static void compute(tbb::task_group& group, Grid& grid, size_t cell) {
    grid.compute(cell, [&](size_t next) {
        group.run([&group, &grid, next] { compute(group, grid, next); });
    });
}

static uint64_t search(Tree tree, const Node& node);

static uint64_t search_children(Tree tree, const Node& node, size_t begin, size_t end) {
    if (begin == end) return 0;
    if (begin + 1 == end) return search(tree, node.child(begin));
    size_t middle = begin + (end - begin) / 2;
    uint64_t left, right;
    tbb::task_group group;
    group.run([&] { right = search_children(tree, node, middle, end); });
    left = search_children(tree, node, begin, middle);
    group.wait();
    return left + right;
}

static uint64_t search(Tree tree, const Node& node) {
    return 1 + search_children(tree, node, 0, tree.children(node));
}

// A cell that one task evaluates and another waits for.
struct Cell {
    std::atomic<uint64_t> value{0};
    // Null, the suspended waiter, or READY.
    std::atomic<tbb::task::suspend_point> state{nullptr};

    static tbb::task::suspend_point ready() { return reinterpret_cast<tbb::task::suspend_point>(1); }

    uint64_t force() {
        if (state.load(std::memory_order_acquire) != ready()) {
            tbb::task::suspend([this](tbb::task::suspend_point waiter) {
                tbb::task::suspend_point empty = nullptr;
                if (!state.compare_exchange_strong(empty, waiter)) tbb::task::resume(waiter);
            });
        }
        return value.load(std::memory_order_relaxed);
    }

    void finish(uint64_t result) {
        value.store(result, std::memory_order_relaxed);
        if (auto waiter = state.exchange(ready())) tbb::task::resume(waiter);
    }
};

struct Chains {
    std::vector<std::vector<Cell>> chains;
    std::atomic<uint64_t> sum{0};

    explicit Chains(uint64_t length) {
        for (uint64_t i = 0; i < CHAINS; i++) chains.emplace_back(length);
    }

    void evaluate(uint64_t number, size_t parity) {
        auto& cells = chains[number];
        for (size_t n = parity; n < cells.size(); n += 2) {
            uint64_t value = n == 0 ? scramble(number) : next_cell(cells[n - 1].force());
            cells[n].finish(value);
            if (n + 1 == cells.size()) sum += value;
        }
    }
};

int main(int count, char** values) {
    Arguments arguments(count, values);
    Meter meter(arguments.least_milliseconds);
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, arguments.workers);
    tbb::task_arena workers(int(arguments.workers));
    arena = &workers;
    uint64_t size = arguments.size;
    auto nothing = [] { return Nothing(); };

    if (arguments.is("spawn")) {
        std::atomic<uint64_t> counter{0};
        arena->execute([&] { spawn(size, [&] { counter++; }); });
        if (counter != size) return 1;
        meter.measure(size, nothing,
                      [&](Nothing&) { arena->execute([&] { spawn(size, [] {}); }); },
                      [](Nothing&) { return true; });
    } else if (arguments.is("fib")) {
        uint64_t result = 0;
        meter.measure(forks(size), nothing,
                      [&](Nothing&) { arena->execute([&] { result = fib(size); }); },
                      [&](Nothing&) { return result == fibonacci(size); });
    } else if (arguments.is("wavefront")) {
        uint64_t expected = Grid::expected(size);
        meter.measure(size * size, [&] { return std::make_unique<Grid>(size); },
                      [&](std::unique_ptr<Grid>& grid) {
                          arena->execute([&] {
                              tbb::task_group group;
                              compute(group, *grid, 0);
                              group.wait();
                          });
                      },
                      [&](std::unique_ptr<Grid>& grid) { return grid->last() == expected; });
    } else if (arguments.is("tree")) {
        Tree tree{uint32_t(size)};
        uint64_t nodes = tree.nodes(), found = 0;
        meter.measure(nodes, nothing,
                      [&](Nothing&) { arena->execute([&] { found = search(tree, tree.root()); }); },
                      [&](Nothing&) { return found == nodes; });
    } else if (arguments.is("sum")) {
        auto all = numbers(size);
        uint64_t expected = sum(all.data(), all.data() + all.size()), result = 0;
        meter.measure(size, nothing,
                      [&](Nothing&) {
                          arena->execute([&] {
                              result = tbb::parallel_reduce(
                                  tbb::blocked_range<size_t>(0, all.size()), uint64_t(0),
                                  [&](const tbb::blocked_range<size_t>& range, uint64_t start) {
                                      const uint32_t* data = all.data();
                                      return start + sum(data + range.begin(), data + range.end());
                                  },
                                  std::plus<uint64_t>());
                          });
                      },
                      [&](Nothing&) { return result == expected; });
    } else if (arguments.is("sort")) {
        auto all = numbers(size);
        uint64_t expected = sum(all.data(), all.data() + all.size());
        meter.measure(size, [&] { return all; },
                      [&](std::vector<uint32_t>& copy) {
                          arena->execute([&] { tbb::parallel_sort(copy.begin(), copy.end()); });
                      },
                      [&](std::vector<uint32_t>& copy) {
                          return std::is_sorted(copy.begin(), copy.end()) &&
                                 sum(copy.data(), copy.data() + copy.size()) == expected;
                      });
    } else if (arguments.is("collisions") || arguments.is("cells")) {
        uint64_t expected = expected_chains(size);
        meter.measure(size * CHAINS, [&] { return std::make_unique<Chains>(size); },
                      [&](std::unique_ptr<Chains>& chains) {
                          arena->execute([&] {
                              tbb::task_group group;
                              for (uint64_t number = 0; number < CHAINS; number++) {
                                  for (size_t parity = 0; parity < 2; parity++) {
                                      group.run([&chains, number, parity] {
                                          chains->evaluate(number, parity);
                                      });
                                  }
                              }
                              group.wait();
                          });
                      },
                      [&](std::unique_ptr<Chains>& chains) { return chains->sum == expected; });
    } else {
        return unknown_row(arguments);
    }
    return 0;
}
