#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_OPTIONS_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/transports/transport_choice.h"

namespace muster {

// The memory of the measured buffers.
enum class BenchMemory { kTransports, kPlain };

// The command line's options, with the letters of nccl-tests.
struct BenchOptions {
  OperationKind kind = OperationKind::kAllReduce;  // kBatch: sendrecv
  int64_t least_bytes = 4096;                      // -b
  int64_t max_bytes = 128 << 20;                   // -e
  int64_t step_factor = 4;                         // -f; 0: step_bytes instead
  int64_t step_bytes = 0;                          // -i
  int iterations = 20;                             // -n
  int warm_up = 5;                                 // -w
  std::vector<DType> dtypes = {DType::kFloat32};   // -d
  std::vector<ReduceOp> ops = {ReduceOp::kSum};    // -o
  int root = 0;                                    // -r
  bool check = true;                               // -c
  TransportChoice transport = TransportChoice::kAutomatic;
  BenchMemory memory = BenchMemory::kTransports;
  bool help = false;
};

// The names that nccl-tests uses: "float", "half". "sendrecv" is a batch of a
// send to the next rank and a receive from the previous one.
const char* BenchName(DType dtype);
const char* BenchName(OperationKind kind);

// `arguments`: the operation and its options. InvalidArgument: one line. Pure.
absl::StatusOr<BenchOptions> ParseBenchOptions(
    const std::vector<std::string>& arguments);

// Parses "4K", "128M", "1G", "77" as a number of bytes.
absl::StatusOr<int64_t> ParseBenchSize(const std::string& text);

// The sizes to measure, ascending.
std::vector<int64_t> BenchSizes(const BenchOptions& options);

std::string BenchHelp();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_OPTIONS_H_
