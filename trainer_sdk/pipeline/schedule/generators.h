#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_GENERATORS_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_GENERATORS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// The kinds of schedules that MakeSchedule can generate. Other schedules are
// read from CSV files.
enum class ScheduleKind {
  // A rank performs all forward passes, then all backward passes (Huang et al.,
  // 2019). Each rank holds the activations of all micro-batches.
  kGPipe,
  // A rank performs forward and backward passes alternately (Narayanan et al.,
  // 2019). With p ranks and m micro-batches, the bubble (idle time) is (p-1)/m
  // of the ideal time, as with GPipe. But rank r holds the activations of at
  // most p-r micro-batches.
  k1F1B,
  // 1F1B with v stages per rank (Narayanan et al., 2021). With p ranks and m
  // micro-batches, the bubble (idle time) is only (p-1)/(v m) of the ideal
  // time. In return, there is more communication, and more activations are
  // held.
  kInterleaved1F1B,
  // Each backward pass is split in two (Qi et al., 2023): input gradients are
  // computed first, and weight gradients fill the bubble (idle time). If the
  // forward pass, the input gradient and the weight gradient take equally long,
  // the bubble is (p-1)/(3m) of the ideal time, with p ranks and m
  // micro-batches.
  kZeroBubble1P,
};

// All enumerators of ScheduleKind. generators_test checks that none is missing.
inline constexpr ScheduleKind kScheduleKinds[] = {
    ScheduleKind::kGPipe, ScheduleKind::k1F1B, ScheduleKind::kInterleaved1F1B,
    ScheduleKind::kZeroBubble1P};

// The name of a kind of schedule: "gpipe", "1f1b", "interleaved_1f1b", "zb1p".
std::string_view ScheduleName(ScheduleKind kind);
// Parses a name that ScheduleName returns. InvalidArgument: the message lists
// the valid names.
absl::StatusOr<ScheduleKind> ParseScheduleName(std::string_view name);

// Makes a schedule. InvalidArgument: a number in `shape` is below 1; the
// pipeline is too large; `kind` is GPipe or 1F1B, and `shape` has several
// stages per rank; or there are several stages per rank, and the micro-batches
// cannot be divided into equal groups. With p ranks and m micro-batches there
// are max(1, m / p) groups, where m / p is rounded down.
absl::StatusOr<PipelineSchedule> MakeSchedule(ScheduleKind kind,
                                              const PipelineShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_GENERATORS_H_
