#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_SVG_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_SVG_H_

#include <string>
#include <string_view>

#include "trainer_sdk/pipeline/schedule/simulator.h"

namespace muster {

// Draws a timeline as a complete SVG file: one line per rank and one box per
// pass. A box contains the number of its micro-batch. The colour of a box shows
// the kind of pass, and the shade shows which of the rank's stages does the
// pass. Grey is idle time (the bubble), and its share is in the heading. At
// most 20,000 boxes are drawn; if there are more passes, the drawing states
// their number.
std::string DrawSchedule(const PipelineTimeline& timeline,
                         std::string_view title);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_SVG_H_
