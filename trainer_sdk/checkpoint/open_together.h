#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_OPEN_TOGETHER_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_OPEN_TOGETHER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Collective: all ranks open the same checkpoint, namely the last saved one
// that is intact for all of them. Each verifies some of the files. Errors are
// those of CheckpointReader::OpenNewest, the same on every rank, and the
// group's. `call` applies to each of its operations, which wait for the slowest
// rank to verify. NotFound: there is no checkpoint; start afresh.
absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenNewestTogether(
    ProcessGroup& group, const std::string& directory,
    FileSystem* file_system = nullptr, CallOptions call = {});

// Collective: fills each rank's slices, and checks that the ranks together read
// every element of the checkpoint. Errors are those of CheckpointReader::Read,
// on every rank, with the number of the rank that failed. FailedPrecondition:
// no rank asked for a tensor or a part of it.
absl::Status ReadTogether(ProcessGroup& group, const CheckpointReader& reader,
                          const std::vector<CheckpointSlice>& slices,
                          CallOptions call = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_OPEN_TOGETHER_H_
