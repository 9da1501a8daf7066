// Taskflow: https://github.com/taskflow/taskflow
#include "measure.hpp"
#include "problems.hpp"

#include <memory>
#include <taskflow/taskflow.hpp>

static tf::Executor* executor;

// Runs a function on a worker and waits for it.
template <class Function> static void on_worker(Function function) {
    executor->async(function).get();
}

template <class Body> static void spawn(uint64_t count, Body body) {
    tf::TaskGroup group = executor->task_group();
    for (uint64_t i = 0; i < count; i++) group.silent_async(body);
    group.corun();
}

static uint64_t fib(uint64_t n) {
    if (n < 2) return n;
    uint64_t a, b;
    tf::TaskGroup group = executor->task_group();
    group.silent_async([&b, n] { b = fib(n - 2); });
    a = fib(n - 1);
    group.corun();
    return a + b;
}

// A closure of two words needs no memory of its own in a `std::function`.
struct Wavefront {
    tf::TaskGroup& group;
    Grid& grid;

    void compute(size_t cell) {
        grid.compute(cell, [&](size_t next) {
            group.silent_async([this, next] { compute(next); });
        });
    }
};

static uint64_t search(Tree tree, const Node& node);

static uint64_t search_children(Tree tree, const Node& node, size_t begin, size_t end) {
    if (begin == end) return 0;
    if (begin + 1 == end) return search(tree, node.child(begin));
    size_t middle = begin + (end - begin) / 2;
    struct Half {
        Tree tree;
        const Node& node;
        size_t begin, end;
        uint64_t found;
    } right{tree, node, middle, end, 0};
    tf::TaskGroup group = executor->task_group();
    group.silent_async([&right] {
        right.found = search_children(right.tree, right.node, right.begin, right.end);
    });
    uint64_t left = search_children(tree, node, begin, middle);
    group.corun();
    return left + right.found;
}

static uint64_t search(Tree tree, const Node& node) {
    return 1 + search_children(tree, node, 0, tree.children(node));
}

int main(int count, char** values) {
    Arguments arguments(count, values);
    Meter meter(arguments.least_milliseconds);
    tf::Executor pool(arguments.workers);
    executor = &pool;
    uint64_t size = arguments.size;
    auto nothing = [] { return Nothing(); };

    if (arguments.is("spawn")) {
        std::atomic<uint64_t> counter{0};
        on_worker([&] { spawn(size, [&] { counter++; }); });
        if (counter != size) return 1;
        meter.measure(size, nothing, [&](Nothing&) { on_worker([&] { spawn(size, [] {}); }); },
                      [](Nothing&) { return true; });
    } else if (arguments.is("fib")) {
        uint64_t result = 0;
        meter.measure(forks(size), nothing,
                      [&](Nothing&) { on_worker([&] { result = fib(size); }); },
                      [&](Nothing&) { return result == fibonacci(size); });
    } else if (arguments.is("wavefront")) {
        uint64_t expected = Grid::expected(size);
        meter.measure(size * size, [&] { return std::make_unique<Grid>(size); },
                      [&](std::unique_ptr<Grid>& grid) {
                          on_worker([&] {
                              tf::TaskGroup group = executor->task_group();
                              Wavefront wavefront{group, *grid};
                              wavefront.compute(0);
                              group.corun();
                          });
                      },
                      [&](std::unique_ptr<Grid>& grid) { return grid->last() == expected; });
    } else if (arguments.is("tree")) {
        Tree tree{uint32_t(size)};
        uint64_t nodes = tree.nodes(), found = 0;
        meter.measure(nodes, nothing,
                      [&](Nothing&) { on_worker([&] { found = search(tree, tree.root()); }); },
                      [&](Nothing&) { return found == nodes; });
    } else {
        return unknown_row(arguments);
    }
    return 0;
}
