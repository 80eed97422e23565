#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_CSV_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_CSV_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// Formats a schedule as CSV like PyTorch's torch.distributed.pipelining: one
// line per rank, with its actions separated by commas. PyTorch also writes
// empty cells where a rank waits; they carry no information and are omitted.
std::string WriteScheduleCsv(const PipelineSchedule& schedule);

// Parses a schedule in the CSV form of WriteScheduleCsv, of at most 64 MiB. The
// pipeline's shape is derived from the content: one rank per line, and the
// highest stage and micro-batch. InvalidArgument: the message gives the line
// and column of an invalid action, or says why the schedule is invalid
// (CheckComputations, or CheckLowered if it has sends or receives).
absl::StatusOr<PipelineSchedule> ReadScheduleCsv(std::string_view text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_CSV_H_
