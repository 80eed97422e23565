#include "trainer_sdk/examples/gpt_pipeline/pipeline_options.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/pipeline/schedule/schedule_csv.h"

namespace muster {
namespace {

const CLI::Range kSome(1, 1 << 20);

void AddScheduleFlags(CLI::App& app, PipelineTrainingOptions* options) {
  auto* csv = app.add_option("--schedule-csv", options->schedule_csv,
                             "a file with a schedule, a line for each rank "
                             "(0F0,0F1,0B0,...), in place of what follows")
                  ->check(CLI::ExistingFile);
  for (CLI::Option* const option :
       {app.add_option("--pp", options->ranks,
                       "ranks of a pipeline; 0: all there are")
            ->check(CLI::Range(0, 1 << 20)),
        app.add_option("--chunks", options->chunks, "stages of each rank")
            ->check(kSome),
        app.add_option("--schedule", options->schedule,
                       "gpipe, 1f1b, interleaved_1f1b, zb1p"),
        app.add_option("--micro-batches", options->micro_batches,
                       "micro-batches of each pipeline in a step")
            ->check(kSome)}) {
    option->excludes(csv);
  }
}

void AddTrainingFlags(CLI::App& app, PipelineTrainingOptions* options) {
  app.add_option("--context", options->model.context, "tokens of a window")
      ->check(kSome);
  app.add_option("--layers", options->model.layers, "transformer blocks")
      ->check(kSome);
  app.add_option("--heads", options->model.heads, "attention heads of a block")
      ->check(kSome);
  app.add_option("--width", options->model.width, "of the residual stream")
      ->check(kSome);
  app.add_option("--batch", options->batch, "windows in a micro-batch")
      ->check(kSome);
  app.add_option("--steps", options->steps, "steps of the optimizer")
      ->check(kSome);
  app.add_option("--learning-rate", options->learning_rate.peak, "the highest")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--last-learning-rate", options->learning_rate.floor,
                 "the lowest, at the end")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--warmup", options->learning_rate.warmup,
                 "steps until the highest learning rate");
  app.add_flag_callback(
      "--zero",
      [options] { options->state = GptPipelineOptions::State::kSharded; },
      "ranks with the same stages share the optimizer's state (ZeRO stage 1)");
  app.add_option("--clip", options->clip,
                 "the gradient's longest norm; 0 for any")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", options->seed, "of weights and data");
}

}  // namespace

absl::StatusOr<PipelineTrainingOptions> ReadPipelineOptions(int argc,
                                                            char** argv,
                                                            int* exit_code) {
  PipelineTrainingOptions options;
  CLI::App app(
      "Trains a GPT-2-style transformer on a text, its layers split over the "
      "ranks of pipelines; if there are more ranks than a pipeline has, there "
      "are several, on other data.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", options.text.data,
                 "the text, or what `gpt prepare` wrote")
      ->required()
      ->check(CLI::ExistingFile);
  AddScheduleFlags(app, &options);
  AddTrainingFlags(app, &options);
  app.add_option("--svg", options.svg,
                 "a file for a picture of the last step, as it was measured");
  app.add_option("--log", options.log, "a file for the log, as JSON lines");
  app.add_option("--log-every", options.log_every, "steps")->check(kSome);
  app.add_option("--validate-every", options.validate_every,
                 "steps; 0 for never")
      ->check(CLI::Range(0, 1 << 30));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    *exit_code = app.exit(error, text, text) == 0 ? 0 : 2;
    return absl::InvalidArgumentError(text.str());
  }
  options.learning_rate.decay_until = options.steps;
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
  return ReadScheduleCsv(text);
}

}  // namespace muster
