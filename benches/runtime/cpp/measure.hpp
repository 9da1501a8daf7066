// Wall time, CPU time, futex calls and allocations of a piece of work; as `src/measure.rs`, which
// says more. A program is called with ROW WORKERS SIZE LEAST_MILLISECONDS and prints a line of JSON.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

inline std::atomic<bool> counting{false};
inline std::atomic<uint64_t> allocations{0};

inline void note_allocation() {
    if (counting.load(std::memory_order_relaxed)) {
        allocations.fetch_add(1, std::memory_order_relaxed);
    }
}

// The C library's allocator under its own names; these definitions take the place of the usual ones
// in the libraries too.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_memalign(size_t, size_t);
void* malloc(size_t size) noexcept {
    note_allocation();
    return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
    note_allocation();
    return __libc_calloc(count, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
    note_allocation();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void** pointer, size_t alignment, size_t size) noexcept {
    note_allocation();
    *pointer = __libc_memalign(alignment, size);
    return *pointer ? 0 : 12;
}
}

inline uint64_t cpu_time() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

class Meter {
  public:
    // To be made before any thread.
    explicit Meter(uint64_t least_milliseconds) : least(least_milliseconds) {
        for (const char* folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
            std::ifstream file(std::string(folder) + "/events/syscalls/sys_enter_futex/id");
            perf_event_attr attributes{};
            attributes.type = PERF_TYPE_TRACEPOINT;
            attributes.size = PERF_ATTR_SIZE_VER0;
            attributes.inherit = 1;
            if (counter < 0 && file >> attributes.config) {
                counter = int(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0ul));
            }
        }
    }

    template <class SetUp, class Work, class IsRight>
    void measure(uint64_t operations, SetUp set_up, Work work, IsRight is_right) {
        using Clock = std::chrono::steady_clock;
        Clock::duration wall{0};
        uint64_t cpu = 0, futexes = 0, repetitions = 0;
        auto repeat = [&](bool timed, bool count_allocations) {
            auto input = set_up();
            counting = count_allocations;
            uint64_t futexes_before = futex_calls(), cpu_before = cpu_time();
            auto begin = Clock::now();
            work(input);
            auto end = Clock::now();
            uint64_t cpu_after = cpu_time(), futexes_after = futex_calls();
            counting = false;
            if (!is_right(input)) {
                std::fprintf(stderr, "the result is wrong\n");
                std::exit(1);
            }
            if (timed) {
                wall += end - begin;
                cpu += cpu_after - cpu_before;
                futexes += futexes_after - futexes_before;
                repetitions++;
            }
        };
        repeat(false, false);
        while (repetitions == 0 || wall < least) {
            repeat(true, false);
        }
        repeat(false, true);
        double done = double(operations) * double(repetitions);
        std::printf("{\"operations\":%llu,\"repetitions\":%llu,\"wall_ns\":%.3f,\"cpu_ns\":%.3f,",
                    (unsigned long long)operations, (unsigned long long)repetitions,
                    double(std::chrono::nanoseconds(wall).count()) / done, double(cpu) / done);
        if (counter >= 0) {
            std::printf("\"futexes\":%.3f,", double(futexes) / double(repetitions));
        } else {
            std::printf("\"futexes\":null,");
        }
        std::printf("\"allocations\":%.6f}\n", double(allocations) / double(operations));
    }

  private:
    std::chrono::milliseconds least;
    int counter = -1;

    uint64_t futex_calls() const {
        uint64_t count = 0;
        if (counter >= 0 && read(counter, &count, sizeof count) != ssize_t(sizeof count)) {
            std::perror("cannot read the futex counter");
            std::exit(1);
        }
        return count;
    }
};

struct Arguments {
    const char* row;
    size_t workers;
    uint64_t size, least_milliseconds;

    Arguments(int count, char** values) {
        if (count != 5) {
            std::fprintf(stderr, "usage: %s ROW WORKERS SIZE LEAST_MILLISECONDS\n", values[0]);
            std::exit(2);
        }
        row = values[1];
        workers = std::strtoull(values[2], nullptr, 10);
        size = std::strtoull(values[3], nullptr, 10);
        least_milliseconds = std::strtoull(values[4], nullptr, 10);
    }

    bool is(const char* name) const { return std::strcmp(row, name) == 0; }
};

inline int unknown_row(const Arguments& arguments) {
    std::fprintf(stderr, "no such row: %s\n", arguments.row);
    return 2;
}
