#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAM_AGREEMENT_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAM_AGREEMENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The functions of this file compare the schedules and the shapes of all ranks
// before the first step of a pipeline. Each rank encodes its schedule and
// shapes as integers, and the ranks exchange these integers with an all_gather.
// All functions of this file are pure.

// The shapes of the input and output of one stage.
struct StageStreams {
  StreamShape input;
  StreamShape output;

  bool operator==(const StageStreams&) const = default;
};

// The number of int64_t values in which each rank encodes the schedule: the
// numbers of ranks, of stages per rank and of micro-batches, and a hash of the
// actions of all ranks. The values must be equal on all ranks.
inline constexpr int kScheduleNumbers = 4;
std::vector<int64_t> EncodeSchedule(const PipelineSchedule& schedule);

// Checks that all ranks have the same schedule. `numbers`: the results of
// EncodeSchedule on all ranks, concatenated. FailedPrecondition: the message
// names the rank whose schedule differs from rank 0's, and the difference.
absl::Status CheckSameSchedule(const std::vector<int64_t>& numbers);

// The number of int64_t values in which a rank encodes the shapes of one
// stage's input and output. Invalid shapes are encoded too, so that all ranks
// detect them.
inline constexpr int kStreamsNumbers = 2 * (2 + StreamShape::kMaxDimensions);
std::vector<int64_t> EncodeStreams(const StageStreams& streams);

// Checks the encoded shapes of all stages, and returns their input shapes,
// indexed by stage; the shape of stage 0 is empty. `numbers`: the results of
// EncodeStreams for all stages, rank by rank. FailedPrecondition has two
// causes:
// - The output of a stage does not fit the input of the next stage. The message
//   names the first such stage, the ranks and both shapes.
// - A shape is invalid: its type is unknown, it has too many dimensions, or a
//   size is below 1 or too large. The message names the stage.
absl::StatusOr<std::vector<StreamShape>> AgreedInputs(
    const std::vector<int64_t>& numbers, const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAM_AGREEMENT_H_
