#include "agent/pair_check/compute_kernel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

// The number of times that the arithmetic is timed on each core. Each
// repetition is so short that, on a busy core, some repetitions fit between the
// time slices of other processes.
constexpr int kRepetitions = 100;
// The number of passes over the data in one repetition. A repetition takes a
// fraction of a millisecond.
constexpr int kPasses = 300;
constexpr size_t kMaxCores = 1024;

// One repetition of the arithmetic: multiplications and additions on data in
// the first-level cache. The returned value depends on each operation, so the
// compiler cannot remove any operation.
double Compute(double seed) {
  std::array<double, 512> values;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = seed + static_cast<double>(i);
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    for (double& value : values) value = value * 0.999 + 0.001;
  }
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// Repeats the arithmetic on `core`. Returns the shortest time in seconds.
double TimeOnCore(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  // The error is ignored: if the core has gone offline, the thread runs on
  // another core.
  pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);
  double shortest = 0;
  volatile double sink = 1;
  for (int i = 0; i < kRepetitions; ++i) {
    const Instant began = MonotonicNow();
    sink = Compute(sink);
    const double took = ToSeconds(MonotonicNow() - began);
    shortest = i == 0 ? took : std::min(shortest, took);
  }
  return shortest;
}

}  // namespace

double TimeComputeKernel() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 0;
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE && cores.size() < kMaxCores; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  std::vector<double> times(cores.size(), 0);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cores.size(); ++i) {
    try {
      threads.emplace_back(
          [&times, core = cores[i], i] { times[i] = TimeOnCore(core); });
    } catch (const std::system_error&) {
      // The system refuses to create more threads: the cores without a thread
      // are not measured.
      break;
    }
  }
  for (std::thread& thread : threads) thread.join();
  return times.empty() ? 0 : std::ranges::max(times);
}

}  // namespace muster::agent
