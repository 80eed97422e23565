#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_OPTIONS_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/transports/transport_choice.h"

namespace muster {

// The memory for the measured buffers. kTransports: memory that the transport
// allocates. kPlain: ordinary memory.
enum class BenchMemory { kTransports, kPlain };

// The options of `launch bench`; the one-letter names are those of nccl-tests.
struct BenchOptions {
  // The measured operation. kBatch: the benchmark "sendrecv" of nccl-tests (one
  // send and one receive).
  OperationKind kind = OperationKind::kAllReduce;
  int64_t least_bytes = 4096;     // -b: smallest buffer size, in bytes
  int64_t max_bytes = 128 << 20;  // -e: largest buffer size, in bytes
  // -f: factor between successive buffer sizes; 0: add step_bytes instead
  int64_t step_factor = 4;
  // -i: increment between successive buffer sizes, in bytes
  int64_t step_bytes = 0;
  int iterations = 20;  // -n: number of measured operations per buffer size
  // -w: number of unmeasured operations before each measurement
  int warm_up = 5;
  // -d: element types to measure
  std::vector<DType> dtypes = {DType::kFloat32};
  // -o: reductions to measure, such as sum
  std::vector<ReduceOp> ops = {ReduceOp::kSum};
  int root = 0;       // -r: root rank of broadcast, reduce, gather and scatter
  bool check = true;  // -c: whether the results are checked for errors
  TransportChoice transport = TransportChoice::kAutomatic;
  BenchMemory memory = BenchMemory::kTransports;
  bool help = false;
};

// The name that nccl-tests uses for an element type ("float") or an operation
// ("all_reduce"). "sendrecv" is a batch: one send to the next rank and one
// receive from the previous rank.
const char* BenchName(DType dtype);
const char* BenchName(OperationKind kind);

// Parses the command line `arguments`: the name of the operation, then its
// options. InvalidArgument: a malformed argument; the message is one line.
// Pure.
absl::StatusOr<BenchOptions> ParseBenchOptions(
    const std::vector<std::string>& arguments);

// Parses a number of bytes such as "4K", "128M", "1G" or "77". K, M and G are
// powers of 1024.
absl::StatusOr<int64_t> ParseBenchSize(const std::string& text);

// The buffer sizes to measure, in bytes, ascending.
std::vector<int64_t> BenchSizes(const BenchOptions& options);

std::string BenchHelp();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_OPTIONS_H_
