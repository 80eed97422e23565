#include "models/pipeline_trainer/pipeline_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"
#include "base/message_text.h"
#include "models/trainer/training_flags.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/pipeline/schedule/schedule_csv.h"

namespace muster::models {
namespace {

void AddScheduleFlags(CLI::App& app, PipelineTrainingOptions* options) {
  auto* csv = app.add_option("--schedule-csv", options->schedule_csv,
                             "a file with a schedule, a line for each rank "
                             "(0F0,0F1,0B0,...), in place of what follows")
                  ->check(CLI::ExistingFile);
  for (CLI::Option* const option :
       {app.add_option("--pp", options->ranks,
                       "ranks of a pipeline; 0: all there are")
            ->check(WholeBetween(0, 1 << 20)),
        app.add_option("--chunks", options->chunks, "stages of each rank")
            ->check(WholeBetween(1, 1 << 20)),
        app.add_option("--schedule", options->schedule,
                       "gpipe, 1f1b, interleaved_1f1b, zb1p"),
        app.add_option("--micro-batches", options->micro_batches,
                       "micro-batches of each pipeline in a step")
            ->check(WholeBetween(1, 1 << 20))}) {
    option->excludes(csv);
  }
}

}  // namespace

absl::StatusOr<PipelineTrainingOptions> ReadPipelineOptions(int argc,
                                                            char** argv,
                                                            int* exit_code) {
  PipelineTrainingOptions options;
  CLI::App app(
      "Trains a GPT-2-style transformer on a text, its layers split over the "
      "ranks of pipelines; if there are more ranks than a pipeline has, there "
      "are several, on other data. SIGTERM and Ctrl-C stop behind a step, "
      "with a checkpoint. Checkpoints are those of `gpt train`: `gpt sample`, "
      "`validate` and `export` read them, and either goes on from the "
      "other's.");
  app.option_defaults()->always_capture_default();
  AddScheduleFlags(app, &options);
  AddCommonFlags(app, &options.training);
  app.add_option("--svg", options.svg,
                 "a file for a picture of the last step, as it was measured");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    *exit_code = app.exit(error, text, text) == 0 ? 0 : 2;
    return absl::InvalidArgumentError(text.str());
  }
  options.training.learning_rate.decay_until = options.training.steps;
  return options;
}

absl::StatusOr<PipelineSchedule> ChosenSchedule(
    const PipelineTrainingOptions& options, int world) {
  if (options.schedule_csv.empty()) {
    const auto kind = ParseScheduleName(options.schedule);
    if (!kind.ok()) return kind.status();
    return MakeSchedule(*kind, {options.ranks > 0 ? options.ranks : world,
                                options.chunks, options.micro_batches});
  }
  std::ifstream file(options.schedule_csv, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file),
                         std::istreambuf_iterator<char>()};
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat("cannot read '", options.schedule_csv, "'"));
  }
  auto schedule = ReadScheduleCsv(text);
  if (schedule.ok()) return schedule;
  return absl::Status(
      schedule.status().code(),
      absl::StrCat(options.schedule_csv, ": ", schedule.status().message()));
}

std::string DescribePipelines(const PipelineShape& shape, int world) {
  return absl::StrCat(Counted(world / shape.ranks, "pipeline"), " of ",
                      Counted(shape.ranks, "rank"), " with ",
                      Counted(shape.stages_per_rank, "stage"), " each");
}

GptTrainingOptions AsWhole(const PipelineTrainingOptions& options,
                           const PipelineShape& shape, int world) {
  GptTrainingOptions whole = options.training;
  whole.micro_batches = int64_t{world / shape.ranks} * shape.micro_batches;
  // A validation runs the pipeline schedule once, and the schedule has as many
  // micro-batches as a training step.
  whole.validation_batches = whole.micro_batches;
  return whole;
}

std::string DescribeSplit(const PipelineTrainingOptions& options,
                          const PipelineSchedule& schedule) {
  // A schedule that was read from a file is described by a hash of its content,
  // because the file may differ between hosts.
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
