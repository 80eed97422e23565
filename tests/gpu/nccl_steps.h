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
  // The world's transport, by the agent's id where there is one; says which.
  absl::StatusOr<std::unique_ptr<Transport>> World() const;
};

// Every collective, type, reduction, place and size of the conformance suite
// against its reference; messages, batches, memory of the transport's own.
absl::Status CheckCollectives(const NcclRank& rank);

// The world split in two by parity, with the ranks reversed.
absl::Status CheckSplit(const NcclRank& rank);

// A process group over NCCL, as programs make it, and a mesh of it: two columns
// where the ranks make them up.
absl::Status CheckMeshGroups(const NcclRank& rank);

// The last rank is killed while the others wait in a barrier for it; in the
// job's next round all find each other again. The error of the first round is
// meant to end the job's round.
absl::Status CheckReform(const NcclRank& rank);

// all_reduce of float32 from 4 KiB to `most_bytes`, in nccl-tests' columns.
absl::Status MeasureAllReduce(const NcclRank& rank, int64_t most_bytes);

}  // namespace muster

#endif  // MUSTER_TESTS_GPU_NCCL_STEPS_H_
