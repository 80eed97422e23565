#ifndef MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_
#define MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace muster {

// How every library is measured, so that all are measured alike.

// Bytes, from the command line.
std::vector<int64_t> SizesOf(int argc, char** argv, int first);

// The longest of them: how much memory a rank needs.
int64_t Longest(const std::vector<int64_t>& sizes);

// Fills `data` with zeros and lets `all_reduce(bytes)`, which sums it in place
// over all ranks, run again and again. On rank 0 prints "BYTES MICROSECONDS"
// for each size: the median over batches of a batch's mean. Every rank makes
// the same calls.
//
// `contents` is "kept", as benchmarks of collectives do it, or "written": each
// rank writes its data anew before each call, as a training step does, so that
// it lies in the caches of its own core. Then the calls alone are timed.
void MeasureAllReduce(int rank, const std::string& contents, float* data,
                      const std::vector<int64_t>& sizes,
                      const std::function<void(int64_t bytes)>& all_reduce);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_
