#ifndef MUSTER_MODELS_TRAINER_REPORT_DESCRIBE_TIMELINE_H_
#define MUSTER_MODELS_TRAINER_REPORT_DESCRIBE_TIMELINE_H_

#include <string>

#include "trainer_sdk/timeline/trace_events.h"

namespace muster::models {

// "steps 1998 to 2000 of 2 ranks: 4.12 ms of communication a step, ...": the
// steps and ranks, and the text of DescribeOverlap.
std::string DescribeTimeline(const Timeline& timeline);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_REPORT_DESCRIBE_TIMELINE_H_
