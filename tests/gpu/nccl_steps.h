#ifndef MUSTER_TESTS_GPU_NCCL_STEPS_H_
#define MUSTER_TESTS_GPU_NCCL_STEPS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "tests/gpu/device_memory.h"
#include "trainer_sdk/nccl/nccl_transport.h"
#include "trainer_sdk/session/session.h"

namespace muster {

// One rank of a job that checks NCCL: its session (with its place in the world)
// and its GPU memory.
struct NcclRank {
  Session* session = nullptr;
  std::shared_ptr<DeviceMemory> memory;
  NcclOptions options;

  GroupPlace PlaceIn(const std::string& group) const;
  // Creates the NCCL transport of the world. Uses the agent's NCCL id, if the
  // agent has created one. Prints where the id comes from.
  absl::StatusOr<std::unique_ptr<Transport>> World() const;
};

// Compares the results of collectives with the reference: every collective,
// type, reduction, size and buffer placement of the conformance suite. Also
// checks messages, batches, and memory that the transport allocates.
absl::Status CheckCollectives(const NcclRank& rank);

// Splits the world into a group of the even ranks and a group of the odd ranks,
// each in reverse order of the ranks. Checks an all_reduce in each group.
absl::Status CheckSplit(const NcclRank& rank);

// Checks a process group over NCCL that is created in the same way as in a
// training program. Also checks a mesh of its ranks, with two columns if the
// number of ranks is even.
absl::Status CheckMeshGroups(const NcclRank& rank);

// Kills the last rank while the other ranks wait for it in a barrier. In the
// first round of the job, the barrier must fail on the other ranks; CheckReform
// then returns the barrier's error. In the next round, all ranks must meet in a
// barrier again; CheckReform then returns OK.
absl::Status CheckReform(const NcclRank& rank);

// Runs 1,600 steps of an all_reduce, in each of which the last rank works 20 ms
// longer on the host than the other ranks, as a straggler does.
absl::Status RunWithSlowRank(const NcclRank& rank);

// Measures all_reduce of float32 for sizes from 4 KiB to `max_bytes`, and
// prints the same columns as nccl-tests.
absl::Status MeasureAllReduce(const NcclRank& rank, int64_t max_bytes);

}  // namespace muster

#endif  // MUSTER_TESTS_GPU_NCCL_STEPS_H_
