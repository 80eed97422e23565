#ifndef MUSTER_TESTS_BENCH_ALL_REDUCE_NAMESPACES_WORKER_H_
#define MUSTER_TESTS_BENCH_ALL_REDUCE_NAMESPACES_WORKER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace muster {

// One rank of a measurement.
struct WorkerOptions {
  int rank = 0;
  int size = 1;
  std::string address;  // this rank's own
  std::string store_host;
  int store_port = 0;
};

// Sums `count` floats in place over all ranks.
using SumInPlace = std::function<void(float* data, int64_t count)>;

// Measures `sum` at each size and prints, as rank 0, "BYTES MICROSECONDS":
// the median of as many runs as fit the time.
void Measure(const WorkerOptions& options, const SumInPlace& sum);

// What can be measured, by name; each connects the ranks on its first call.
SumInPlace OursOverTcp(const WorkerOptions& options);
SumInPlace OursOverGloo(const WorkerOptions& options);
SumInPlace GlooRing(const WorkerOptions& options);
SumInPlace GlooBcube(const WorkerOptions& options);
SumInPlace GlooHalvingDoubling(const WorkerOptions& options);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_ALL_REDUCE_NAMESPACES_WORKER_H_
