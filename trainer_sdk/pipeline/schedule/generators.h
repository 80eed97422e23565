#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_GENERATORS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_GENERATORS_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The schedules that can be made; anything else comes as CSV.
enum class ScheduleKind {
  // All forwards, then all backwards (Huang et al., 2019). Holds the
  // activations of all micro-batches.
  kGPipe,
  // One forward, one backward (Narayanan et al., 2019): the same bubble,
  // (p-1)/m of the ideal time, but rank r holds p-r micro-batches at most.
  k1F1B,
  // With v stages a rank (Narayanan et al., 2021): the bubble is
  // (p-1)/(v m), for more communication and more held activations.
  kInterleaved1F1B,
  // The backward pass split in two (Qi et al., 2023): input gradients first,
  // weight gradients where there would be a bubble, which shrinks to
  // (p-1)/(3m) where F, I and W take the same time.
  kZeroBubble1P,
};

// "gpipe", "1f1b", "interleaved_1f1b", "zb1p".
std::string_view ScheduleName(ScheduleKind kind);
std::vector<ScheduleKind> AllScheduleKinds();
// InvalidArgument names the ones that there are.
absl::StatusOr<ScheduleKind> ParseScheduleName(std::string_view name);

// InvalidArgument: a number below 1; more than one stage a rank for a schedule
// that has but one (GPipe, 1F1B); or, with several, micro-batches that cannot
// be dealt out in equal rounds: with m >= p, m must be a multiple of the number
// of rounds, which is m / p rounded down.
absl::StatusOr<PipelineSchedule> MakeSchedule(ScheduleKind kind,
                                              const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_GENERATORS_H_
