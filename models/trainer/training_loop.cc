#include "models/trainer/training_loop.h"

#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"
#include "models/trainer/gpt_checkpoint.h"
#include "trainer_sdk/session/stop_request.h"

namespace muster::models {

absl::Status InSession(const std::function<absl::Status(Session&)>& train) {
  const auto session = Session::FromEnvironment();
  if (!session.ok()) return session.status();
  absl::Status status = train(**session);
  if (status.ok()) return status;
  // Put the rank before the error's message, unless the message begins with the
  // rank already.
  const std::string rank = absl::StrCat("rank ", (*session)->rank());
  if (status.message().substr(0, rank.size()) == rank) return status;
  return absl::Status(status.code(),
                      absl::StrCat(rank, ": ", status.message()));
}

absl::Status WithinMemory(const std::function<absl::Status()>& command) {
  try {
    return command();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "out of memory: a smaller --batch, --context, --width or --layers, or "
        "--recompute");
  }
}

namespace {

bool IsDue(int64_t step, int64_t every, const GptTrainingOptions& options) {
  return every > 0 && (step == options.steps || step % every == 0);
}

bool IsOfTheDisk(const absl::Status& status) {
  return status.code() == absl::StatusCode::kResourceExhausted ||
         status.code() == absl::StatusCode::kPermissionDenied ||
         status.code() == absl::StatusCode::kInternal;
}

// Saves a checkpoint. GptCheckpoints::Save first returns the error of the
// previous checkpoint. If this error came from the disk, for example because
// the disk was full, prints a warning and saves the new checkpoint
// nevertheless.
absl::Status Save(int64_t step, GptCheckpoints& checkpoints,
                  GptReporter& reporter) {
  absl::Status status = checkpoints.Save(step);
  if (!IsOfTheDisk(status)) return status;
  reporter.Warn(absl::StrCat("the last checkpoint failed: ", status.message()));
  return checkpoints.Save(step);
}

// Performs the remaining steps, beginning with number `step`. If `checkpoints`
// is null, no checkpoint is saved.
absl::Status TakeSteps(int64_t step, const TrainingRun& run,
                       GptCheckpoints* checkpoints) {
  const GptTrainingOptions& options = run.options;
  while (step < options.steps) {
    const absl::StatusOr<GptStep> done = run.trainer.Step(step++);
    if (!done.ok()) return done.status();
    run.reporter.Step(step, done->loss, done->learning_rate,
                      done->gradient_norm);
    const absl::StatusOr<bool> stop = StopRequest::AskedAnyone(run.world);
    if (!stop.ok()) return stop.status();
    if (*stop) {
      run.reporter.Stopped(step);
    }
    if (!*stop && IsDue(step, options.validate_every, options)) {
      const absl::StatusOr<double> loss = run.trainer.Validate();
      if (!loss.ok()) return loss.status();
      run.reporter.Validation(step, *loss);
    }
    if (checkpoints != nullptr &&
        (*stop || IsDue(step, options.checkpoint_every, options))) {
      run.reporter.CheckpointBegins();
      absl::Status status = Save(step, *checkpoints, run.reporter);
      run.reporter.CheckpointEnded();
      if (!status.ok()) return status;
    }
    if (*stop) return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Resumes from the newest checkpoint. Returns the number of steps that the
// training had done at that checkpoint; 0: there is no checkpoint.
absl::StatusOr<int64_t> Resume(const TrainingRun& run,
                               GptCheckpoints& checkpoints) {
  for (const std::string& path : checkpoints.left_over()) {
    run.reporter.Warn(absl::StrCat("could not clear away ", path));
  }
  const absl::StatusOr<int64_t> step = checkpoints.Resume();
  if (!step.ok()) return step.status();
  if (*step > 0) {
    run.reporter.Say(absl::StrCat("resuming after step ", *step, " from ",
                                  checkpoints.resumed_from()));
  }
  if (!checkpoints.other_options().empty()) {
    run.reporter.Warn(
        absl::StrCat("this is no longer the training that was begun: ",
                     checkpoints.other_options()));
  }
  if (*step >= run.options.steps) {
    run.reporter.Say(
        absl::StrCat("nothing to do: --steps is ", run.options.steps));
  }
  return step;
}

}  // namespace

absl::Status RunTraining(const TrainingRun& run) {
  std::unique_ptr<GptCheckpoints> checkpoints;
  int64_t step = 0;
  if (!run.options.checkpoint_directory.empty()) {
    auto made = GptCheckpoints::Create(run.options, run.vocabulary, run.trainer,
                                       run.world);
    if (!made.ok()) return made.status();
    checkpoints = *std::move(made);
    const absl::StatusOr<int64_t> resumed = Resume(run, *checkpoints);
    if (!resumed.ok()) return resumed.status();
    step = *resumed;
  }
  absl::Status status = run.reporter.Begin(step);
  if (status.ok()) status = TakeSteps(step, run, checkpoints.get());
  if (!status.ok() || checkpoints == nullptr) return status;
  return checkpoints->Wait();
}

}  // namespace muster::models
