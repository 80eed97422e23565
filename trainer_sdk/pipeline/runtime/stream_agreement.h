#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAM_AGREEMENT_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAM_AGREEMENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/runtime/stream_shape.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// What ranks tell each other before the first step, as numbers that an
// all_gather carries. Pure.

struct StageStreams {
  StreamShape input;
  StreamShape output;

  bool operator==(const StageStreams&) const = default;
};

// What must be the same on all ranks: shape and actions of the schedule. So
// many numbers, whatever the schedule.
inline constexpr int kScheduleNumbers = 4;
std::vector<int64_t> EncodeSchedule(const PipelineSchedule& schedule);

// `numbers` are all ranks', one behind the other. FailedPrecondition: which
// rank has another schedule than rank 0, and what differs.
absl::Status CheckSameSchedule(const std::vector<int64_t>& numbers);

// The streams of one stage, in so many numbers. What is no shape is for the
// receivers to find, so that all ranks hear of it.
inline constexpr int kStreamsNumbers = 2 * (2 + StreamShape::kMostDimensions);
std::vector<int64_t> EncodeStreams(const StageStreams& streams);

// From all ranks' streams, each rank's stages and the ranks one behind the
// other: the shapes of the stages' inputs, by stage. FailedPrecondition: the
// first stage whose output is not what the next one takes, on which ranks, and
// both shapes; or the stage whose shape has too many dimensions, a size below 1
// or one too large.
absl::StatusOr<std::vector<StreamShape>> AgreedInputs(
    const std::vector<int64_t>& numbers, const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAM_AGREEMENT_H_
