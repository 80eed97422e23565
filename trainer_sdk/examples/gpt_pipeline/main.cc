// Trains a GPT-2-style transformer on a text with its layers split over the
// ranks of a pipeline: a Session, a process group, GptPipeline. Runs under
// `launch`, torchrun, mpirun and srun, and alone:
//
//   bazel build --config=opt //trainer_sdk/examples/gpt_pipeline
//   cd bazel-bin/trainer_sdk/examples/gpt_pipeline
//   launch --standalone --nproc-per-node 2 gpt_pipeline --data TEXT --svg s.svg
//   launch --standalone --nproc-per-node 4 gpt_pipeline --data TEXT --pp 2
//     --chunks 2 --schedule interleaved_1f1b --zero

#include <fstream>
#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trainer_sdk/examples/gpt/gpt_reporter.h"
#include "trainer_sdk/examples/gpt/gpt_text.h"
#include "trainer_sdk/examples/gpt_pipeline/pipeline_options.h"
#include "trainer_sdk/examples/gpt_pipeline/pipeline_trainer.h"
#include "trainer_sdk/kernels/matrix_threads.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster {
namespace {

absl::Status TakeSteps(const PipelineTrainingOptions& options,
                       PipelineTrainer& trainer, GptReporter& reporter) {
  for (int64_t step = 0; step < options.steps; ++step) {
    const auto done = trainer.Step(step);
    if (!done.ok()) return done.status();
    reporter.Step(step + 1, done->loss, trainer.learning_rate(step),
                  done->gradient_norm);
    if (options.validate_every > 0 &&
        (step + 1 == options.steps ||
         (step + 1) % options.validate_every == 0)) {
      const absl::StatusOr<double> loss = trainer.Validate();
      if (!loss.ok()) return loss.status();
      reporter.Validation(step + 1, *loss);
    }
  }
  return absl::OkStatus();
}

absl::Status WritePicture(const std::string& path, PipelineTrainer& trainer,
                          const Session& session) {
  const absl::StatusOr<std::string> picture = trainer.Picture();
  if (!picture.ok() || session.rank() != 0) return picture.status();
  std::ofstream file(path);
  file << *picture << std::flush;
  return file ? absl::OkStatus()
              : absl::InvalidArgumentError(
                    absl::StrCat("cannot write '", path, "'"));
}

absl::Status Train(PipelineTrainingOptions options, Session& session) {
  UseMatrixThreads(
      ChooseMatrixThreads(ReadMatrixThreadFacts(session.local_world_size())));
  const absl::StatusOr<GptText> text = LoadText(options.text);
  if (!text.ok()) return text.status();
  options.model.vocabulary = text->vocabulary->size();
  auto schedule = ChosenSchedule(options, session.world_size());
  if (!schedule.ok()) return schedule.status();
  const PipelineShape shape = schedule->shape;
  const auto world = NewWorld(session);
  if (!world.ok()) return world.status();
  const auto trainer = PipelineTrainer::Create(options, *std::move(schedule),
                                               text->tokens, **world);
  if (!trainer.ok()) return trainer.status();
  GptReporter reporter(
      {.log = options.log,
       .steps = options.steps,
       .log_every = options.log_every,
       .tokens_per_step =
           (*trainer)->micro_batches() * options.batch * options.model.context},
      session);
  reporter.Say(absl::StrFormat(
      "%d parameters; %d tokens; %d pipelines of %d ranks with %d stages each "
      "over %s; %d micro-batches each in a step",
      options.model.Parameters(), text->tokens->count(),
      session.world_size() / shape.ranks, shape.ranks, shape.stages_per_rank,
      (*world)->transport_name(), shape.micro_batches));
  absl::Status status = reporter.Begin(0);
  if (status.ok()) status = TakeSteps(options, **trainer, reporter);
  if (!status.ok() || options.svg.empty()) return status;
  return WritePicture(options.svg, **trainer, session);
}

int Main(int argc, char** argv) {
  int exit_code = 2;
  const auto options = ReadPipelineOptions(argc, argv, &exit_code);
  if (!options.ok()) {
    (exit_code == 0 ? std::cout : std::cerr) << options.status().message();
    return exit_code;
  }
  const auto session = Session::FromEnvironment();
  if (!session.ok()) {
    std::cerr << "gpt_pipeline: " << session.status().message() << "\n";
    return 1;
  }
  const absl::Status status = Train(*options, **session);
  if (!status.ok()) {
    std::cerr << "gpt_pipeline: rank " << (*session)->rank() << ": "
              << status.message() << "\n";
  }
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Main(argc, argv); }
