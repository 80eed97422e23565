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

// Collective: every rank opens the same checkpoint, the one that was saved last
// of those that are whole for all of them. Each verifies some of its files.
// Errors as CheckpointReader::OpenNewest's, the same one on every rank, and the
// group's; `call` is for each of its operations, in which ranks wait for the
// slowest to verify. NotFound: nothing was ever saved there; begin afresh.
absl::StatusOr<std::unique_ptr<CheckpointReader>> OpenNewestTogether(
    ProcessGroup& group, const std::string& directory,
    FileSystem* file_system = nullptr, CallOptions call = {});

// Collective: fills each rank's slices, and makes sure that together the ranks
// have taken every element that the checkpoint has. Errors as
// CheckpointReader::Read's, on every rank, with the rank that met it;
// FailedPrecondition: a tensor, or a part of it, that nobody asked for.
absl::Status ReadTogether(ProcessGroup& group, const CheckpointReader& reader,
                          const std::vector<CheckpointSlice>& slices,
                          CallOptions call = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_OPEN_TOGETHER_H_
