#ifndef MUSTER_TRAINER_SDK_TIMELINE_OVERLAP_H_
#define MUSTER_TRAINER_SDK_TIMELINE_OVERLAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "trainer_sdk/timeline/timeline_span.h"

namespace muster {

// How much of a rank's communication of gradients overlapped with computation,
// in total over several steps.
struct CommunicationOverlap {
  int64_t steps = 0;
  // Total time of all steps.
  Duration step{};
  // Total time in which at least one gradient bucket was being reduced.
  Duration communication{};
  // The part of `communication` during which the rank did not wait, because it
  // was still computing the backward pass.
  Duration hidden{};
  // Total time in which the rank waited for averaged gradients and did not
  // compute (ReducerTimes::exposed). May be longer than `communication` minus
  // `hidden`, because threads need time to wake each other.
  Duration exposed{};

  // HiddenShare is hidden / communication, ExposedShare is exposed / step. Both
  // are in [0, 1]; 0 if the divisor is 0.
  double HiddenShare() const;
  double ExposedShare() const;
};

// Computes the overlap from the spans of one rank, which may be in any order.
// Pure.
CommunicationOverlap OverlapOf(const std::vector<TimelineSpan>& spans);

// Formats a summary over all ranks: "4.12 ms of communication a step, 96.1 % of
// it hidden behind the backward pass; exposed: 0.21 ms, 0.9 % of the step (at
// most 1.2 %, rank 1)". The numbers are means over ranks and steps.
std::string DescribeOverlap(const std::vector<CommunicationOverlap>& ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_OVERLAP_H_
