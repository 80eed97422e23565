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

// Returns the largest of `sizes`, the sizes in bytes to measure. A rank needs
// this much memory for its data. 0 if `sizes` is empty.
int64_t Longest(const std::vector<int64_t>& sizes);

// Fills `data` with zeros, and repeatedly calls `all_reduce(bytes)`, which sums
// `data` in place over all ranks. Every rank makes the same calls. Rank 0
// prints "BYTES MICROSECONDS" for each size. MICROSECONDS is a median over
// batches of calls; the value of a batch is the mean time of its calls.
//
// `contents`: "kept" or "written". With "kept", nothing writes `data` between
// the calls, as in other benchmarks of collectives. With "written", each rank
// writes its data before each call, as a training step does, so the data is in
// the caches of the rank's core. The writing is not timed.
void MeasureAllReduce(int rank, const std::string& contents, float* data,
                      const std::vector<int64_t>& sizes,
                      const std::function<void(int64_t bytes)>& all_reduce);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_ALL_REDUCE_MEASURE_H_
