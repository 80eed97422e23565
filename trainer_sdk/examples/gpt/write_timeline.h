#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_WRITE_TIMELINE_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_WRITE_TIMELINE_H_

#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/timeline/trace_events.h"

namespace muster {

// Before a training, whose timeline would be lost otherwise; empty: none will
// be written. InvalidArgument: no file can be written there.
absl::Status CheckTimelineFile(const std::string& path);

// InvalidArgument: it cannot be written; why.
absl::Status WriteTimeline(const Timeline& timeline, const std::string& path);

// "steps 1998 to 2000 of 2 ranks: 4.12 ms of communication a step, ...": what
// is in it, and what DescribeOverlap says of it.
std::string DescribeTimeline(const Timeline& timeline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_EXAMPLES_GPT_WRITE_TIMELINE_H_
