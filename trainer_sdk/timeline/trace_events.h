#ifndef MUSTER_TRAINER_SDK_TIMELINE_TRACE_EVENTS_H_
#define MUSTER_TRAINER_SDK_TIMELINE_TRACE_EVENTS_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "trainer_sdk/timeline/timeline_span.h"

namespace muster {

// The spans of several steps of all ranks.
struct Timeline {
  // ranks[r]: the spans of rank r. The times of all ranks are of the same
  // clock.
  std::vector<std::vector<TimelineSpan>> ranks;
  // Names of the model's parts, such as "head" or "block 3", for spans of kind
  // kPart. Parts without a name here are shown as numbers.
  std::vector<std::string> parts;
};

// Writes a timeline as JSON in the Trace Event Format, which ui.perfetto.dev
// and chrome://tracing open. Each rank is a process with one thread for
// computation and one for communication. An arrow leads from the time at which
// a bucket was full to the start of its reduction. Times are microseconds from
// the first span. Pure.
//
// Source: the "Trace Event Format" document of the Chromium project.
void WriteTraceEvents(const Timeline& timeline, std::ostream& out);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_TRACE_EVENTS_H_
