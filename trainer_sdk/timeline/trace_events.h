#ifndef MUSTER_TRAINER_SDK_TIMELINE_TRACE_EVENTS_H_
#define MUSTER_TRAINER_SDK_TIMELINE_TRACE_EVENTS_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "trainer_sdk/timeline/timeline_span.h"

namespace muster {

// Some steps of all ranks.
struct Timeline {
  // By rank; of one clock.
  std::vector<std::vector<TimelineSpan>> ranks;
  // What kPart's numbers stand for: "head", "block 3"; beyond: by number.
  std::vector<std::string> parts;
};

// Writes JSON in the Trace Event Format, which ui.perfetto.dev and
// chrome://tracing open: a process for each rank, in it a thread for what it
// computes and one for its communication, and an arrow from where a bucket was
// full to where its reduction began. Times are microseconds from the first
// span. Pure.
//
// Source: the "Trace Event Format" document of the Chromium project.
void WriteTraceEvents(const Timeline& timeline, std::ostream& out);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_TRACE_EVENTS_H_
