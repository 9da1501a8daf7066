// The work itself, as far as it is the same for every engine; as `src/problems/`, which says more.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

struct Nothing {};

inline uint64_t fibonacci(uint64_t n) {
    uint64_t a = 0, b = 1;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t sum = a + b;
        a = b;
        b = sum;
    }
    return a;
}

inline uint64_t forks(uint64_t n) { return fibonacci(n + 1) - 1; }

inline uint64_t scramble(uint64_t number) {
    uint64_t z = (number + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

class Grid {
  public:
    explicit Grid(uint64_t side) : side(side), values(side * side), missing(side * side) {
        for (size_t cell = 0; cell < side * side; cell++) {
            missing[cell] = uint8_t(cell >= side) + uint8_t(cell % side > 0);
        }
    }

    // Computes a cell and calls `start` for those that can be computed now.
    template <class Start> void compute(size_t cell, Start start) {
        size_t row = cell / side, column = cell % side;
        values[cell] = row == 0 || column == 0 ? 1 : values[cell - side] + values[cell - 1];
        if (column + 1 < side && is_ready(cell + 1)) start(cell + 1);
        if (row + 1 < side && is_ready(cell + side)) start(cell + side);
    }

    uint64_t last() const { return values.back(); }

    static uint64_t expected(uint64_t side) {
        std::vector<uint64_t> row(side, 1);
        for (uint64_t i = 1; i < side; i++) {
            for (size_t column = 1; column < side; column++) row[column] += row[column - 1];
        }
        return row.back();
    }

  private:
    size_t side;
    std::vector<uint64_t> values;
    std::vector<std::atomic<uint8_t>> missing;

    bool is_ready(size_t cell) { return missing[cell].fetch_sub(1, std::memory_order_acq_rel) == 1; }
};

inline std::vector<uint32_t> numbers(uint64_t count) {
    std::vector<uint32_t> numbers(count);
    for (uint64_t i = 0; i < count; i++) numbers[i] = uint32_t(scramble(i));
    return numbers;
}

inline uint64_t sum(const uint32_t* begin, const uint32_t* end) {
    return std::accumulate(begin, end, uint64_t(0));
}

using Words = std::array<uint32_t, 5>;

inline uint32_t rotate(uint32_t word, int bits) { return word << bits | word >> (32 - bits); }

template <size_t N> Words sha1(const std::array<uint32_t, N>& words) {
    uint32_t schedule[80] = {};
    for (size_t i = 0; i < N; i++) schedule[i] = words[i];
    schedule[N] = 1u << 31;
    schedule[15] = N * 32;
    for (int i = 16; i < 80; i++) {
        schedule[i] = rotate(
            schedule[i - 3] ^ schedule[i - 8] ^ schedule[i - 14] ^ schedule[i - 16], 1);
    }
    const Words start = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    auto [a, b, c, d, e] = start;
    for (int i = 0; i < 80; i++) {
        uint32_t mixed, constant;
        switch (i / 20) {
        case 0: mixed = (b & c) | (~b & d), constant = 0x5A827999; break;
        case 1: mixed = b ^ c ^ d, constant = 0x6ED9EBA1; break;
        case 2: mixed = (b & c) | (b & d) | (c & d), constant = 0x8F1BBCDC; break;
        default: mixed = b ^ c ^ d, constant = 0xCA62C1D6;
        }
        uint32_t next = rotate(a, 5) + mixed + e + constant + schedule[i];
        e = d, d = c, c = rotate(b, 30), b = a, a = next;
    }
    return {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e};
}

struct Node {
    Words state;
    uint32_t depth;

    Node child(size_t index) const {
        auto [a, b, c, d, e] = state;
        return {sha1(std::array<uint32_t, 6>{a, b, c, d, e, uint32_t(index)}), depth + 1};
    }
};

struct Tree {
    uint32_t depth;

    Node root() const { return {sha1(std::array<uint32_t, 5>{0, 0, 0, 0, 19}), 0}; }

    size_t children(const Node& node) const {
        if (node.depth >= depth) return 0;
        double uniform = double(node.state[4] & 0x7FFFFFFF) / double(0x80000000u);
        double probability = 1.0 / (1.0 + 4.0);
        auto count = size_t(std::floor(std::log(1.0 - uniform) / std::log(1.0 - probability)));
        return std::min<size_t>(count, 100);
    }

    uint64_t nodes() const { return depth == 10 ? 4130071 : search(root()); }

    uint64_t search(const Node& node) const {
        uint64_t found = 1;
        for (size_t i = 0; i < children(node); i++) found += search(node.child(i));
        return found;
    }
};

constexpr uint64_t CHAINS = 64;

inline uint64_t next_cell(uint64_t value) {
    for (uint64_t step = 0; step < 20; step++) value = value * (value | 1) + step;
    return value;
}

inline uint64_t expected_chains(uint64_t length) {
    uint64_t sum = 0;
    for (uint64_t chain = 0; chain < CHAINS; chain++) {
        uint64_t value = scramble(chain);
        for (uint64_t i = 1; i < length; i++) value = next_cell(value);
        sum += value;
    }
    return sum;
}
