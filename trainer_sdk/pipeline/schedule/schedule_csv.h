#ifndef MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_CSV_H_
#define MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_CSV_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// Formats a schedule as CSV like PyTorch's torch.distributed.pipelining: one
// line per rank, with its actions separated by commas. PyTorch also writes an
// empty cell where a rank waits. Such cells carry no information, so this
// function does not write them.
std::string WriteScheduleCsv(const PipelineSchedule& schedule);

// Parses a schedule in the CSV form of WriteScheduleCsv, of at most 64 MiB.
// There is one line per rank. The numbers of stages and micro-batches follow
// from the highest stage and micro-batch in the text. InvalidArgument: an
// action cannot be parsed (the message gives its line and column), or the
// schedule is invalid. A schedule is checked by CheckComputations or, if it has
// sends or receives, by CheckLowered.
absl::StatusOr<PipelineSchedule> ReadScheduleCsv(std::string_view text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_SCHEDULE_SCHEDULE_CSV_H_
