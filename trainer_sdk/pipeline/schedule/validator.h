#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_VALIDATOR_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_VALIDATOR_H_

#include "absl/status/status.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// Checks that the schedule is a complete training step and cannot deadlock.
// Each stage does the forward pass and the backward pass of each micro-batch
// once, on the rank that has the stage. The backward pass is whole (B) or in
// two parts (I, W). If every rank performs its actions in order and waits for
// the inputs that other ranks compute, every rank reaches the end of its
// actions.
//
// InvalidArgument: the message names the rank, the position and the invalid
// action; or, for a deadlock, the action at which each rank is blocked.
absl::Status CheckComputations(const PipelineSchedule& schedule);

// Checks a schedule with communication (AddCommunication). In addition to the
// checks of CheckComputations: every message between neighbouring stages on
// different ranks is sent once and received once. It is sent after its content
// has been computed, and received before its content is used. Between two
// ranks, in each direction of data, messages are received in the order in which
// they are sent, because transports match messages by order only.
//
// Sends and receives are asynchronous: a rank continues while they are in
// flight, and waits for a receive where its data is used. A send completes only
// when its receive has been posted; the check ensures that no rank deadlocks
// under this condition either.
absl::Status CheckLowered(const PipelineSchedule& schedule);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_VALIDATOR_H_
