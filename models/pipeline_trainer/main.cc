// Trains a GPT-2-style transformer on a text. The layers are split over the
// ranks of a pipeline. Uses a Session, a process group and GptPipeline. Runs
// under `launch`, torchrun, mpirun and srun, and without a launcher:
//
//   bazel build --config=opt //models/pipeline_trainer:gpt_pipeline
//   cd bazel-bin/models/pipeline_trainer
//   launch --standalone --nproc-per-node 2 gpt_pipeline --data TEXT --svg s.svg
//   launch --standalone --nproc-per-node 4 --max-restarts 3 gpt_pipeline
//     --data TEXT --pp 2 --chunks 2 --schedule interleaved_1f1b --zero
//     --checkpoint-dir checkpoints

#include <iostream>
#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "models/kernels/matrix_threads.h"
#include "models/pipeline_trainer/pipeline_options.h"
#include "models/pipeline_trainer/pipeline_trainer.h"
#include "models/trainer/report/gpt_reporter.h"
#include "models/trainer/report/timeline_files.h"
#include "models/trainer/text/gpt_text.h"
#include "models/trainer/training_loop.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/session/stop_request.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster::models {
namespace {

// Writes the picture of the last step's timeline to `file`. Collective. If the
// file cannot be written, rank 0 only prints a warning: the training does not
// fail.
absl::Status KeepPicture(const PictureFile& file, PipelineTrainer& trainer,
                         GptReporter& reporter, int rank) {
  const absl::StatusOr<std::string> picture = trainer.Picture();
  if (!picture.ok() || rank != 0) return picture.status();
  const absl::Status status =
      WritePictureFile(file, [&](std::ostream& out) { out << *picture; });
  if (status.ok()) {
    reporter.Say(absl::StrCat("picture ", file.path,
                              ": the last step, as it was measured"));
  } else {
    reporter.Warn(std::string(status.message()));
  }
  return absl::OkStatus();
}

absl::Status Train(PipelineTrainingOptions options, Session& session) {
  UseMatrixThreads(
      ChooseMatrixThreads(ReadMatrixThreadFacts(session.local_world_size())));
  const absl::StatusOr<GptText> text = LoadText(options.training.text);
  if (!text.ok()) return text.status();
  options.training.model.vocabulary = text->vocabulary->size();
  const auto fingerprint = TextFingerprint(*text);
  if (!fingerprint.ok()) return fingerprint.status();
  options.training.text_fingerprint = *fingerprint;
  auto schedule = ChosenSchedule(options, session.world_size());
  if (!schedule.ok()) return schedule.status();
  const PipelineShape shape = schedule->shape;
  const auto world = NewWorld(session);
  if (!world.ok()) return world.status();
  // NewWorld waits for all ranks; a signal during this wait should end the
  // process. So call Listen only after NewWorld. After Listen, a signal only
  // requests that the training stops.
  StopRequest::Listen();
  const auto trainer = PipelineTrainer::Create(options, *std::move(schedule),
                                               text->tokens, **world);
  if (!trainer.ok()) return trainer.status();
  const GptTrainingOptions& training = (*trainer)->training();
  GptReporter reporter(
      {.program = "gpt_pipeline",
       .log = training.log,
       .steps = training.steps,
       .log_every = training.log_every,
       .tokens_per_step =
           training.micro_batches * training.batch * training.model.context},
      session);
  reporter.Say(absl::StrFormat(
      "%d parameters; %d tokens; %s over %s; %d micro-batches each in a step",
      training.model.Parameters(), text->tokens->count(),
      DescribePipelines(shape, session.world_size()),
      (*world)->transport_name(), shape.micro_batches));
  const PictureFile picture{.kind = "picture", .path = options.svg};
  absl::Status status;
  if (session.rank() == 0) status = CheckPictureFile(picture);
  if (status.ok()) {
    status = RunTraining(
        {training, *text->vocabulary, **trainer, **world, reporter});
  }
  if (!status.ok() || options.svg.empty() || !(*trainer)->has_stepped()) {
    return status;
  }
  return KeepPicture(picture, **trainer, reporter, session.rank());
}

int Main(int argc, char** argv) {
  int exit_code = 2;
  const auto options = ReadPipelineOptions(argc, argv, &exit_code);
  if (!options.ok()) {
    (exit_code == 0 ? std::cout : std::cerr) << options.status().message();
    return exit_code;
  }
  const absl::Status status = WithinMemory([&] {
    return InSession(
        [&](Session& session) { return Train(*options, session); });
  });
  if (!status.ok()) std::cerr << "gpt_pipeline: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace muster::models

int main(int argc, char** argv) { return muster::models::Main(argc, argv); }
