#ifndef MUSTER_AGENT_PAIR_CHECK_GPU_PAIR_H_
#define MUSTER_AGENT_PAIR_CHECK_GPU_PAIR_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/protocol/pair_check.h"

namespace muster::agent {

// The part of a check by pairs that measures the GPUs of the two nodes. CUDA
// and NCCL start threads, so each agent lets a child program do the work: this
// program itself with the argument kGpuPairArgument
// (launcher/gpu_pair/gpu_pair_process.h). The lines between agent and program:
//
//   program  "gpus N KIND"  the number of GPUs that it can measure, and their
//                           model and NCCL's version. If there is no CUDA
//                           driver or no NCCL, the program writes "gpus 0" and
//                           exits.
//   agent    "alone N", "root N" or "join N ID"
//                           measure N GPUs, alone or together with the partner;
//                           the root makes the NCCL id, which the partner's
//                           program gets by "join"
//   program  "id ID"        the NCCL id; sent by the root's program only
//   program  "values BYTES_PER_S COMPUTE_S"
//   program  "failed WHY"   instead of any other line: CUDA or NCCL has failed
inline constexpr char kGpuPairArgument[] = "--gpu-pair-process";
inline constexpr char kGpuPairCount[] = "gpus ";
inline constexpr char kGpuPairAlone[] = "alone";
inline constexpr char kGpuPairRoot[] = "root";
inline constexpr char kGpuPairJoin[] = "join";
inline constexpr char kGpuPairId[] = "id ";
inline constexpr char kGpuPairValues[] = "values ";
inline constexpr char kGpuPairFailed[] = "failed ";

// Time limits of the child program. kGpuPairStart: for its start, until it has
// counted the GPUs. kGpuPairTimeout: for its measurement. kGpuPairEnd: for its
// exit, until the GPUs are free again. kGpuPairLimit: for everything before its
// exit.
inline constexpr Duration kGpuPairStart = std::chrono::seconds(12);
inline constexpr Duration kGpuPairTimeout = std::chrono::seconds(20);
inline constexpr Duration kGpuPairEnd = std::chrono::seconds(10);
inline constexpr Duration kGpuPairLimit =
    kGpuPairStart + kGpuPairTimeout + std::chrono::seconds(3);

struct GpuPairProgram {
  // the child program; empty: no GPU here
  std::string path;
  std::vector<std::string> environment;  // as NAME=VALUE
};

// The results of a measurement of the GPUs. The fields have the meaning of
// those in PairMeasurement with the prefix gpu_.
struct GpuPairValues {
  std::string kind;
  std::string failure;
  double bytes_per_s = 0;
  double compute_s = 0;
};

// The connection to the partner's agent. Each function transfers exactly the
// given number of bytes, or returns why it cannot.
struct GpuPairChannel {
  std::function<absl::Status(const char* data, size_t bytes)> send;
  std::function<absl::Status(char* data, size_t bytes)> receive;
};

// Measures at most `check.gpus` GPUs of this node by means of `program`,
// together with those of the partner if both have GPUs of the same kind. The
// partner calls this function with the other role at about the same time. A
// failure of CUDA or NCCL is a result (GpuPairValues::failure), not an error.
// When the function returns, the program has ended. Blocks at most until
// `deadline`, and then at most kGpuPairEnd for the program's end.
//   Cancelled         `cancel_fd` became readable
//   Unavailable       the connection to the partner broke
//   DeadlineExceeded  the partner did not answer in time
absl::StatusOr<GpuPairValues> MeasureGpuPair(const rendezvous::PairCheck& check,
                                             const GpuPairProgram& program,
                                             const GpuPairChannel& partner,
                                             int cancel_fd, Instant deadline);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PAIR_CHECK_GPU_PAIR_H_
