#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_CSV_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_CSV_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// A schedule as PyTorch's pipelining reads and writes it: a line for each rank,
// its actions separated by commas. PyTorch's empty cells, in which a rank
// waits, carry no meaning and are not written.
std::string WriteScheduleCsv(const PipelineSchedule& schedule);

// Takes the shape from what is there: a line is a rank, and the highest stage
// and micro-batch say how many there are. InvalidArgument: the line and column
// of what is no action, or why the schedule is not sound (CheckComputations,
// or CheckLowered where it has sends or receives). Reads up to 64 MiB.
absl::StatusOr<PipelineSchedule> ReadScheduleCsv(std::string_view text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_CSV_H_
