#ifndef MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_
#define MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace muster {

// Parses the sizes in bytes on the command line, from argument number `first`
// to the last one.
std::vector<int64_t> SizesOf(int argc, char** argv, int first);

// The largest size in bytes: the memory that a rank needs. 0 if `sizes` is
// empty.
int64_t Longest(const std::vector<int64_t>& sizes);

// Fills `data` with zeros, and repeatedly calls `all_reduce(bytes)`, which sums
// `data` in place over all ranks. The calls of each size are divided into
// batches, and the mean time of a call is computed for each batch. Rank 0
// prints "BYTES MICROSECONDS" for each size, where MICROSECONDS is the median
// of these means. Every rank makes the same calls.
//
// `contents`: "kept" or "written". With "kept", nothing writes `data` between
// the calls, as in other benchmarks of collectives. With "written", each rank
// writes its data before each call, as a training step does, so the data is in
// the caches of the rank's core; only the calls are timed, not the writing.
void MeasureAllReduce(int rank, const std::string& contents, float* data,
                      const std::vector<int64_t>& sizes,
                      const std::function<void(int64_t bytes)>& all_reduce);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_
