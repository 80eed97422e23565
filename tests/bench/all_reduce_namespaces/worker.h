#ifndef MUSTER_TESTS_BENCH_ALL_REDUCE_NAMESPACES_WORKER_H_
#define MUSTER_TESTS_BENCH_ALL_REDUCE_NAMESPACES_WORKER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace muster {

// The options of a program that runs one rank while all_reduce is measured.
struct WorkerOptions {
  int rank = 0;
  int size = 1;
  std::string address;  // IPv4 address of this rank
  std::string store_host;
  int store_port = 0;
};

// Sums `count` floats in place over all ranks.
using SumInPlace = std::function<void(float* data, int64_t count)>;

// Measures the implementation `sum` at each size. Rank 0 prints "BYTES
// MICROSECONDS", the median time of a call. Makes as many calls as fit into the
// available time.
void Measure(const WorkerOptions& options, const SumInPlace& sum);

// Each function returns one of the implementations of all_reduce to measure. An
// implementation connects the ranks at its first call.
SumInPlace OursOverTcp(const WorkerOptions& options);
SumInPlace OursOverEncryptedTcp(const WorkerOptions& options);
SumInPlace OursOverGloo(const WorkerOptions& options);
SumInPlace GlooRing(const WorkerOptions& options);
SumInPlace GlooBcube(const WorkerOptions& options);
SumInPlace GlooHalvingDoubling(const WorkerOptions& options);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_ALL_REDUCE_NAMESPACES_WORKER_H_
