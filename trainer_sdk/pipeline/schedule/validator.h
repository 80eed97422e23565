#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_VALIDATOR_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_VALIDATOR_H_

#include "absl/status/status.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// OK: the schedule is a whole training step and cannot get stuck.
//  - Each stage does each micro-batch's forward once, and its backward once,
//    whole (B) or in two parts (I, W), on the rank that has the stage.
//  - Walked through, with every rank doing its actions in order and waiting
//    for what others must give it first, every rank comes to its end.
// InvalidArgument: the rank, the place in its list and the action that is
// wrong; or what each rank that is stuck waits for.
absl::Status CheckComputations(const PipelineSchedule& schedule);

// The same of a schedule with its communication (AddCommunication), and:
//  - every message between neighbouring stages on different ranks is sent once,
//    after it has been computed, and received once, before it is used;
//  - between two ranks, in each direction of data, messages are received in
//    the order in which they are sent: transports do not match them by name.
// Sends and receives are asynchronous: a rank goes on while they are under way,
// and waits for a receive where what it brings is used. A send is done only
// when its receive has been posted; in this model, too, no rank is stuck.
absl::Status CheckLowered(const PipelineSchedule& schedule);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_VALIDATOR_H_
