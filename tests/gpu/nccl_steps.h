#ifndef MUSTER_TESTS_GPU_NCCL_STEPS_H_
#define MUSTER_TESTS_GPU_NCCL_STEPS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "tests/gpu/device_memory.h"
#include "trainer_sdk/nccl/nccl_transport.h"
#include "trainer_sdk/session/session.h"

namespace muster {

// One rank of the checks: its place in the world and its GPU.
struct NcclRank {
  Session* session = nullptr;
  std::shared_ptr<DeviceMemory> memory;
  NcclOptions options;

  GroupPlace PlaceIn(const std::string& group) const;
  // Creates the world's transport, with the agent's NCCL id if there is one,
  // and prints which id is used.
  absl::StatusOr<std::unique_ptr<Transport>> World() const;
};

// Checks every collective, type, reduction, place and size of the conformance
// suite against its reference; also messages, batches, and memory of the
// transport.
absl::Status CheckCollectives(const NcclRank& rank);

// Checks a split of the world by parity, with the ranks in reverse order.
absl::Status CheckSplit(const NcclRank& rank);

// Checks a process group over NCCL, created as a program does, and a mesh of
// it, with two columns if the number of ranks is even.
absl::Status CheckMeshGroups(const NcclRank& rank);

// Kills the last rank while the others wait for it in a barrier. In the job's
// next round, all ranks must find each other again. The error of the first
// round ends that round.
absl::Status CheckReform(const NcclRank& rank);

// Measures all_reduce of float32 from 4 KiB to `max_bytes`, and prints the
// columns of nccl-tests.
absl::Status MeasureAllReduce(const NcclRank& rank, int64_t max_bytes);

}  // namespace muster

#endif  // MUSTER_TESTS_GPU_NCCL_STEPS_H_
