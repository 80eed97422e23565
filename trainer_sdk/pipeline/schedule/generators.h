#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_GENERATORS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_GENERATORS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The kinds of schedules that can be generated; other schedules are read from
// CSV.
enum class ScheduleKind {
  // All forward passes, then all backward passes (Huang et al., 2019). Holds
  // the activations of all micro-batches.
  kGPipe,
  // One forward pass, one backward pass, alternating (Narayanan et al., 2019).
  // The bubble is that of GPipe, (p-1)/m of the ideal time, but rank r holds at
  // most p-r micro-batches.
  k1F1B,
  // 1F1B with v stages per rank (Narayanan et al., 2021): the bubble is
  // (p-1)/(v m), at the cost of more communication and more held activations.
  kInterleaved1F1B,
  // The backward pass is split in two (Qi et al., 2023): input gradients come
  // first, and weight gradients fill the bubble, which shrinks to (p-1)/(3m) if
  // F, I and W take the same time.
  kZeroBubble1P,
};

// The name of a kind: "gpipe", "1f1b", "interleaved_1f1b", "zb1p".
std::string_view ScheduleName(ScheduleKind kind);
// Parses a name of ScheduleName. InvalidArgument: the message lists the valid
// names.
absl::StatusOr<ScheduleKind> ParseScheduleName(std::string_view name);

// Makes a schedule. InvalidArgument: a number is below 1; GPipe or 1F1B with
// more than one stage per rank; or, with several stages per rank, micro-batches
// that do not form equal rounds: with m >= p, m must be a multiple of the
// number of rounds, which is m / p rounded down.
absl::StatusOr<PipelineSchedule> MakeSchedule(ScheduleKind kind,
                                              const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_GENERATORS_H_
