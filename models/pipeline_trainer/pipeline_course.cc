#include "models/pipeline_trainer/pipeline_course.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"
#include "trainer_sdk/pipeline/schedule/schedule_csv.h"

namespace muster::models {

GptTrainingOptions AsWhole(const PipelineTrainingOptions& options,
                           const PipelineShape& shape, int world) {
  GptTrainingOptions whole = options.training;
  whole.micro_batches = int64_t{world / shape.ranks} * shape.micro_batches;
  // A validation is one more round of the schedule.
  whole.validation_batches = whole.micro_batches;
  return whole;
}

std::string DescribeSplit(const PipelineTrainingOptions& options,
                          const PipelineSchedule& schedule) {
  // The file may differ between hosts.
  const std::string name =
      options.schedule_csv.empty()
          ? options.schedule
          : absl::StrCat("of a file, ",
                         absl::Hex(FnvHashOf(WriteScheduleCsv(schedule))));
  return absl::StrCat("pp ", schedule.shape.ranks, "\nchunks ",
                      schedule.shape.stages_per_rank, "\nschedule ", name,
                      "\n");
}

}  // namespace muster::models
