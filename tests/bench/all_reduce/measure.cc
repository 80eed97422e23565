#include "tests/bench/all_reduce/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace muster {
namespace {

// Numbers of calls for one size of data. They are fixed, so that all ranks and
// all libraries make the same calls. The slowest library takes about a second
// for a size.
struct Plan {
  int warm_up;
  int batches;
  int batch;
};

Plan PlanFor(int64_t bytes) {
  if (bytes <= 16 << 10) return {500, 21, 100};
  if (bytes <= 256 << 10) return {50, 21, 20};
  if (bytes <= 4 << 20) return {10, 11, 5};
  if (bytes <= 16 << 20) return {3, 9, 1};
  return {1, 5, 1};
}

}  // namespace

std::vector<int64_t> SizesOf(int argc, char** argv, int first) {
  std::vector<int64_t> sizes;
  for (int i = first; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  return sizes;
}

int64_t Longest(const std::vector<int64_t>& sizes) {
  return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
}

void MeasureAllReduce(int rank, const std::string& contents, float* data,
                      const std::vector<int64_t>& sizes,
                      const std::function<void(int64_t bytes)>& all_reduce) {
  using Clock = std::chrono::steady_clock;
  for (const int64_t bytes : sizes) {
    // The repeated all_reduce sums in place, so all values except zeros would
    // grow with each call.
    std::fill(data, data + bytes / static_cast<int64_t>(sizeof(float)), 0.0F);
    const Plan plan = PlanFor(bytes);
    for (int i = 0; i < plan.warm_up; ++i) all_reduce(bytes);
    const bool written = contents == "written";
    std::vector<double> microseconds;
    for (int i = 0; i < plan.batches; ++i) {
      std::chrono::duration<double, std::micro> took{};
      // With "written", time each call separately, so that the writing of the
      // data is not timed. Each of these times includes two readings of the
      // clock.
      for (int j = 0; j < plan.batch; j += written ? 1 : plan.batch) {
        if (written) std::fill(data, data + bytes / sizeof(float), 0.0F);
        const Clock::time_point begin = Clock::now();
        for (int k = 0; k < (written ? 1 : plan.batch); ++k) all_reduce(bytes);
        took += Clock::now() - begin;
      }
      microseconds.push_back(took.count() / plan.batch);
    }
    std::sort(microseconds.begin(), microseconds.end());
    if (rank == 0) {
      std::printf("%lld %.3f\n", static_cast<long long>(bytes),
                  microseconds[microseconds.size() / 2]);
      std::fflush(stdout);
    }
  }
}

}  // namespace muster
