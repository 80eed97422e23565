#ifndef MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_
#define MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_

#include <cstdint>
#include <functional>
#include <vector>

namespace muster {

// How every library is measured, so that all are measured alike.

// Bytes, from the command line.
std::vector<int64_t> SizesOf(int argc, char** argv, int first);

// The longest of them: how much memory a rank needs.
int64_t Longest(const std::vector<int64_t>& sizes);

// Fills `data` and lets `all_reduce(bytes)`, which sums it in place over all
// ranks, run again and again. On rank 0 prints "BYTES MICROSECONDS" for each
// size: the median over batches of a batch's mean. Every rank makes the same
// calls.
void MeasureAllReduce(int rank, float* data, const std::vector<int64_t>& sizes,
                      const std::function<void(int64_t bytes)>& all_reduce);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_
