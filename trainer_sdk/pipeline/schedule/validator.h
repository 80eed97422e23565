#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_VALIDATOR_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_VALIDATOR_H_

#include "absl/status/status.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// Checks two properties of a schedule:
// - It is a complete training step. Each stage does the forward pass and the
//   backward pass of each micro-batch once, on the rank that has the stage. The
//   backward pass is whole (B) or in two parts (I, W).
// - It cannot deadlock. Every rank performs its actions in order and waits for
//   inputs from other ranks; every rank must reach the end of its actions.
//
// InvalidArgument: the message names the rank, the position and the invalid
// action. For a deadlock, it names the action at which each rank is blocked.
absl::Status CheckComputations(const PipelineSchedule& schedule);

// Checks a schedule with communication (AddCommunication). Makes the checks of
// CheckComputations, and checks the messages between neighbouring stages on
// different ranks:
// - Every message is sent once and received once.
// - A message is sent after its content has been computed, and received before
//   the content is used.
// - Between two ranks, in each direction of data, messages are received in the
//   order in which they are sent. Transports match messages by order only.
//
// Sends and receives are asynchronous: a rank continues while they are in
// flight, and waits for a receive where its data is used. Some transports
// complete a send only when its receive has been posted. The ranks must not
// deadlock over such a transport.
absl::Status CheckLowered(const PipelineSchedule& schedule);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_VALIDATOR_H_
