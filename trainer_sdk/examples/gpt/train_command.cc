#include "trainer_sdk/examples/gpt/train_command.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trainer_sdk/examples/gpt/gpt_checkpoint.h"
#include "trainer_sdk/examples/gpt/gpt_reporter.h"
#include "trainer_sdk/examples/gpt/gpt_sampler.h"
#include "trainer_sdk/examples/gpt/gpt_text.h"
#include "trainer_sdk/examples/gpt/gpt_trainer.h"
#include "trainer_sdk/examples/gpt/matrix_rate.h"
#include "trainer_sdk/examples/gpt/write_timeline.h"
#include "trainer_sdk/kernels/matrix_threads.h"
#include "trainer_sdk/session/stop_request.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster {
namespace {

// What a training consists of besides its trainer.
struct Course {
  const GptTrainingOptions& options;
  GptTrainer& trainer;
  ProcessGroup& world;
  GptReporter& reporter;
  // Null: none are kept.
  GptCheckpoints* checkpoints = nullptr;
};

bool IsDue(int64_t step, int64_t every, const GptTrainingOptions& options) {
  return every > 0 && (step == options.steps || step % every == 0);
}

bool IsOfTheDisk(const absl::Status& status) {
  return status.code() == absl::StatusCode::kResourceExhausted ||
         status.code() == absl::StatusCode::kPermissionDenied ||
         status.code() == absl::StatusCode::kInternal;
}

// A disk that is full is no reason to lose a training: that the last checkpoint
// failed is said when the next one is due, which is tried all the same.
absl::Status Save(int64_t step, const Course& course) {
  absl::Status status = course.checkpoints->Save(step);
  if (!IsOfTheDisk(status)) return status;
  course.reporter.Warn(
      absl::StrCat("the last checkpoint failed: ", status.message()));
  return course.checkpoints->Save(step);
}

// The steps from `step` on.
absl::Status TakeSteps(int64_t step, const Course& course) {
  const GptTrainingOptions& options = course.options;
  while (step < options.steps) {
    const absl::StatusOr<GptStep> done = course.trainer.Step(step++);
    if (!done.ok()) return done.status();
    course.reporter.Step(step, done->loss, done->learning_rate,
                         done->gradient_norm);
    const absl::StatusOr<bool> stop = StopRequest::AskedAnyone(course.world);
    if (!stop.ok()) return stop.status();
    if (*stop) {
      course.reporter.Stopped(step);
    }
    if (!*stop && IsDue(step, options.validate_every, options)) {
      const absl::StatusOr<double> loss = course.trainer.Validate();
      if (!loss.ok()) return loss.status();
      course.reporter.Validation(step, *loss);
    }
    if (course.checkpoints != nullptr &&
        (*stop || IsDue(step, options.checkpoint_every, options))) {
      absl::Status status = Save(step, course);
      if (!status.ok()) return status;
    }
    if (*stop) return absl::OkStatus();
  }
  return absl::OkStatus();
}

void SayWhatIsTrained(const GptTrainingOptions& options, const GptText& text,
                      ProcessGroup& world, double peak, GptReporter& reporter) {
  reporter.Say(absl::StrFormat("%d parameters; %d tokens (%s); %d %s over %s",
                               options.model.Parameters(), text.tokens->count(),
                               text.vocabulary->Describe(), world.size(),
                               world.size() == 1 ? "rank" : "ranks",
                               world.transport_name()));
  reporter.Say(absl::StrFormat(
      "MFU = tokens/s x %.3g FLOP a token (6 N + 6 L C T) / %.1f GFLOP/s%s",
      options.model.FlopsPerToken(), peak / 1e9,
      options.peak > 0 ? "" : ", which matrix products alone reach here"));
}

// From where there is a checkpoint, or from the beginning, to the end.
absl::Status Train(const Course& course) {
  int64_t step = 0;
  if (course.checkpoints != nullptr) {
    for (const std::string& path : course.checkpoints->left_over()) {
      course.reporter.Warn(absl::StrCat("could not clear away ", path));
    }
    const absl::StatusOr<int64_t> resumed = course.checkpoints->Resume();
    if (!resumed.ok()) return resumed.status();
    step = *resumed;
    if (step > 0) {
      course.reporter.Say(absl::StrCat("going on behind step ", step, " from ",
                                       course.checkpoints->resumed_from()));
    }
    if (!course.checkpoints->other_options().empty()) {
      course.reporter.Warn(
          absl::StrCat("this is no longer the training that was begun: ",
                       course.checkpoints->other_options()));
    }
    if (step >= course.options.steps) {
      course.reporter.Say(
          absl::StrCat("nothing to do: --steps is ", course.options.steps));
    }
  }
  absl::Status status = course.reporter.Begin(step);
  if (status.ok() && course.world.rank() == 0) {
    status = CheckTimelineFile(course.options.timeline);
  }
  if (status.ok()) status = TakeSteps(step, course);
  if (!status.ok() || course.checkpoints == nullptr) return status;
  return course.checkpoints->Wait();
}

// Collective. A file that cannot be written is no reason to lose a training.
absl::Status KeepTimeline(const Course& course) {
  if (course.options.timeline.empty()) return absl::OkStatus();
  const absl::StatusOr<Timeline> timeline = course.trainer.GatherTimelines();
  if (!timeline.ok()) return timeline.status();
  if (course.world.rank() != 0) return absl::OkStatus();
  course.reporter.Say(absl::StrCat("timeline ", course.options.timeline, ": ",
                                   DescribeTimeline(*timeline)));
  const absl::Status status = WriteTimeline(*timeline, course.options.timeline);
  if (!status.ok()) {
    course.reporter.Warn(std::string(status.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TrainGpt(GptTrainingOptions options, Session& session) {
  UseMatrixThreads(
      ChooseMatrixThreads(ReadMatrixThreadFacts(session.local_world_size())));
  const absl::StatusOr<GptText> text = LoadText(options.text);
  if (!text.ok()) return text.status();
  options.model.vocabulary = text->vocabulary->size();
  const auto world = NewWorld(session);
  if (!world.ok()) return world.status();
  // Not before: until all ranks are here a signal just ends the process.
  StopRequest::Listen();
  const auto trainer = GptTrainer::Create(options, text->tokens, **world);
  if (!trainer.ok()) return trainer.status();
  const absl::StatusOr<double> peak =
      options.peak > 0 ? options.peak : MeasureMatrixRate(**world);
  if (!peak.ok()) return peak.status();
  GptReporter reporter(
      {.log = options.log,
       .steps = options.steps,
       .log_every = options.log_every,
       .tokens_per_step =
           options.micro_batches * options.batch * options.model.context,
       .flops_per_token = options.model.FlopsPerToken(),
       .peak = *peak},
      session);
  SayWhatIsTrained(options, *text, **world, *peak, reporter);
  Course course{options, **trainer, **world, reporter};
  std::unique_ptr<GptCheckpoints> checkpoints;
  if (!options.checkpoint_directory.empty()) {
    auto made =
        GptCheckpoints::Create(options, *text->vocabulary, **trainer, **world);
    if (!made.ok()) return made.status();
    checkpoints = *std::move(made);
    course.checkpoints = checkpoints.get();
  }
  absl::Status status = Train(course);
  if (status.ok()) status = KeepTimeline(course);
  if (!status.ok()) return status;
  if (session.rank() == 0 && options.sample > 0) {
    reporter.Say(text->vocabulary->Decode(
        Sample((*trainer)->weights(), {.count = options.sample}, {0})));
  }
  return absl::OkStatus();
}

}  // namespace muster
