#ifndef MUSTER_AGENT_PAIR_CHECK_GPU_PAIR_H_
#define MUSTER_AGENT_PAIR_CHECK_GPU_PAIR_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/protocol/pair_check.h"

namespace muster::agent {

// The part of a check by pairs that measures the GPUs of the two nodes. CUDA
// and NCCL start threads, so each agent lets a child process do the work. The
// child runs the agent's own program file with the argument kGpuPairArgument
// (launcher/gpu_pair/gpu_pair_process.h). Agent and child exchange these lines:
//
//   child  "gpus N"     the number of GPUs that it can measure; if N is 0, the
//                       child then exits
//   agent  "root N" or "join N ID"
//                       measure N GPUs; the child that gets "root" makes the
//                       NCCL id, the partner's child gets that id with "join"
//   child  "id ID"      the NCCL id, only after "root"
//   child  "values BYTES_PER_S COMPUTE_S" or "failed WHY"
inline constexpr char kGpuPairArgument[] = "--gpu-pair-process";
inline constexpr char kGpuPairCount[] = "gpus ";
inline constexpr char kGpuPairRoot[] = "root";
inline constexpr char kGpuPairJoin[] = "join";
inline constexpr char kGpuPairId[] = "id ";
inline constexpr char kGpuPairValues[] = "values ";
inline constexpr char kGpuPairFailed[] = "failed ";

// The time limit of the measurement by the child program.
inline constexpr Duration kGpuPairTimeout = std::chrono::seconds(15);

struct GpuPairValues {
  double bytes_per_s = 0;  // PairMeasurement::gpu_bytes_per_s
  double compute_s = 0;    // PairMeasurement::gpu_compute_s
};

// The connection to the partner's agent. Each function transfers exactly the
// given number of bytes, or returns why it cannot.
struct GpuPairChannel {
  std::function<absl::Status(const char* data, size_t bytes)> send;
  std::function<absl::Status(char* data, size_t bytes)> receive;
};

// Measures at most `check.gpus` GPUs of this node, together with as many of the
// partner, by means of `program`. The partner calls this function with the
// other role at about the same time. If one of the two nodes has no GPU that
// can be measured, all values are 0. Blocks.
//   Cancelled         `cancel_fd` became readable
//   DeadlineExceeded  the measurement did not end by `deadline`
//   Unavailable       CUDA or NCCL reports an error, or the program or the
//                     connection broke
absl::StatusOr<GpuPairValues> MeasureGpuPair(const rendezvous::PairCheck& check,
                                             const std::string& program,
                                             const GpuPairChannel& partner,
                                             int cancel_fd, Instant deadline);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PAIR_CHECK_GPU_PAIR_H_
