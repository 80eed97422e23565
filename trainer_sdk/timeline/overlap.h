#ifndef MUSTER_TRAINER_SDK_TIMELINE_OVERLAP_H_
#define MUSTER_TRAINER_SDK_TIMELINE_OVERLAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "trainer_sdk/timeline/timeline_span.h"

namespace muster {

// What became of a rank's communication of gradients, over some steps.
struct CommunicationOverlap {
  int64_t steps = 0;
  // How long they took together.
  Duration step{};
  // Some bucket was being reduced.
  Duration communication{};
  // Of it, what was beside the backward pass: nobody waited.
  Duration hidden{};
  // The rank had nothing to compute and waited for averages: what
  // ReducerTimes::exposed counts. It may be more than what is not hidden, by
  // how long the threads took to wake each other.
  Duration exposed{};

  // Shares; 0 of nothing.
  double HiddenShare() const;
  double ExposedShare() const;
};

// Of one rank's spans, in any order. Pure.
CommunicationOverlap OverlapOf(const std::vector<TimelineSpan>& spans);

// Of all ranks: "4.12 ms of communication a step, 96.1 % of it hidden behind
// the backward pass; exposed: 0.21 ms, 0.9 % of the step (at most 1.2 %, rank
// 1)". Means over ranks and steps.
std::string DescribeOverlap(const std::vector<CommunicationOverlap>& ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_OVERLAP_H_
