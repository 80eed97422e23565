#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_OPTIONS_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/transports/transport_choice.h"

namespace muster {

// Where the measured buffers are allocated: by the transport, or as ordinary
// memory.
enum class BenchMemory { kTransports, kPlain };

// The options of `launch bench`; their letters are those of nccl-tests.
struct BenchOptions {
  // The measured operation; kBatch is measured as "sendrecv".
  OperationKind kind = OperationKind::kAllReduce;
  int64_t least_bytes = 4096;     // -b: the smallest size, in bytes
  int64_t max_bytes = 128 << 20;  // -e: the largest size, in bytes
  // -f: the factor from one size to the next; 0: step_bytes is used instead
  int64_t step_factor = 4;
  // -i: the increment from one size to the next, in bytes
  int64_t step_bytes = 0;
  int iterations = 20;  // -n: measured operations per size
  int warm_up = 5;      // -w: operations before each measurement
  std::vector<DType> dtypes = {DType::kFloat32};  // -d: the element types
  std::vector<ReduceOp> ops = {ReduceOp::kSum};   // -o: the reductions
  int root = 0;       // -r: the root of rooted collectives
  bool check = true;  // -c: whether the results are checked
  TransportChoice transport = TransportChoice::kAutomatic;
  BenchMemory memory = BenchMemory::kTransports;
  bool help = false;
};

// The names that nccl-tests uses: "float", "half". "sendrecv" is one batch with
// a send to the next rank and a receive from the previous rank.
const char* BenchName(DType dtype);
const char* BenchName(OperationKind kind);

// Parses `arguments`, the operation and its options. InvalidArgument has a
// message of one line. Pure.
absl::StatusOr<BenchOptions> ParseBenchOptions(
    const std::vector<std::string>& arguments);

// Parses "4K", "128M", "1G", "77" as a number of bytes.
absl::StatusOr<int64_t> ParseBenchSize(const std::string& text);

// The sizes to measure, ascending.
std::vector<int64_t> BenchSizes(const BenchOptions& options);

std::string BenchHelp();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_OPTIONS_H_
