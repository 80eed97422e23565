#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_SVG_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_SVG_H_

#include <string>
#include <string_view>

#include "trainer_sdk/pipeline/schedule/simulator.h"

namespace muster {

// A picture of how a schedule goes: a line for each rank, a box for each pass
// with its micro-batch, its kind by colour and its chunk by shade; what is left
// grey is the bubble, and its share stands above. A whole SVG file. At most
// 20,000 boxes are drawn; the picture says how many there would be.
std::string DrawSchedule(const PipelineTimeline& timeline,
                         std::string_view title);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_SVG_H_
