// Trains a GPT-2-style transformer on a text and generates text with it, using
// a Session, a process group, DDP and checkpoints. Runs under `launch`,
// torchrun, mpirun and srun, and without a launcher:
//
//   bazel build --config=opt //models/trainer:gpt
//   cd bazel-bin/models/trainer
//   launch --standalone --nproc-per-node 2 --max-restarts 3 gpt train
//     --data TEXT --micro-batches 2 --checkpoint-dir checkpoints
//   gpt sample --checkpoint-dir checkpoints

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "models/gpt/gpt_stage.h"
#include "models/gpt/hugging_face.h"
#include "models/kernels/matrix_threads.h"
#include "models/trainer/gpt_checkpoint.h"
#include "models/trainer/gpt_command.h"
#include "models/trainer/gpt_sampler.h"
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/host_gpt_trainer.h"
#include "models/trainer/new_cuda_trainer.h"
#include "models/trainer/report/gpt_reporter.h"
#include "models/trainer/report/timeline_files.h"
#include "models/trainer/text/gpt_batches.h"
#include "models/trainer/text/gpt_text.h"
#include "models/trainer/training_loop.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/session/stop_request.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster::models {
namespace {

void SayWhatIsTrained(const GptTrainingOptions& options, const GptText& text,
                      ProcessGroup& world, double peak, GptReporter& reporter) {
  const bool on_gpus = options.device == GptTrainingOptions::Device::kCuda;
  const char* where = "";
  if (on_gpus) {
    where = world.size() == 1 ? ", on a GPU" : ", on GPUs, gradients over NCCL";
  }
  reporter.Say(absl::StrFormat("%d parameters; %d tokens (%s); %d %s over %s%s",
                               options.model.Parameters(), text.tokens->count(),
                               text.vocabulary->Describe(), world.size(),
                               world.size() == 1 ? "rank" : "ranks",
                               world.transport_name(), where));
  reporter.Say(absl::StrFormat(
      "MFU = tokens/s x %.3g FLOP a token (6 N + 6 L C T) / %.1f GFLOP/s%s",
      options.model.FlopsPerToken(), peak / 1e9,
      options.peak > 0 ? "" : ", which matrix products alone reach here"));
}

absl::StatusOr<std::unique_ptr<GptTrainer>> NewTrainer(
    const GptTrainingOptions& options, std::shared_ptr<const Tokens> tokens,
    Session& session, ProcessGroup& world) {
  if (options.device == GptTrainingOptions::Device::kCuda) {
    return NewCudaTrainer(options, std::move(tokens), session, world);
  }
  return HostGptTrainer::Create(options, std::move(tokens), world);
}

// Writes the timeline of the last steps to `file`. Collective. If the file
// cannot be written, rank 0 only prints a warning: the training does not fail.
absl::Status KeepTimeline(const PictureFile& file, GptTrainer& trainer,
                          GptReporter& reporter, int rank) {
  if (file.path.empty()) return absl::OkStatus();
  const absl::StatusOr<Timeline> timeline = trainer.GatherTimelines();
  if (!timeline.ok()) return timeline.status();
  if (rank != 0) return absl::OkStatus();
  const std::string contents = DescribeTimeline(*timeline);
  const absl::Status status = WritePictureFile(
      file, [&](std::ostream& out) { WriteTraceEvents(*timeline, out); });
  if (status.ok()) {
    reporter.Say(absl::StrCat("timeline ", file.path, ": ", contents));
  } else {
    reporter.Warn(absl::StrCat(status.message(), "; it has ", contents));
  }
  return absl::OkStatus();
}

// Performs `gpt train`: trains to the last step, or until a stop is requested
// on any rank.
absl::Status TrainGpt(GptTrainingOptions options, Session& session) {
  UseMatrixThreads(
      ChooseMatrixThreads(ReadMatrixThreadFacts(session.local_world_size())));
  const absl::StatusOr<GptText> text = LoadText(options.text);
  if (!text.ok()) return text.status();
  options.model.vocabulary = text->vocabulary->size();
  const auto fingerprint = TextFingerprint(*text);
  if (!fingerprint.ok()) return fingerprint.status();
  options.text_fingerprint = *fingerprint;
  const auto world = NewWorld(session);
  if (!world.ok()) return world.status();
  // NewWorld waits for all ranks; a signal during this wait should end the
  // process. So call Listen only after NewWorld. After Listen, a signal only
  // requests that the training stops.
  StopRequest::Listen();
  const auto trainer = NewTrainer(options, text->tokens, session, **world);
  if (!trainer.ok()) return trainer.status();
  const absl::StatusOr<double> peak =
      options.peak > 0 ? options.peak : (*trainer)->MeasurePeak();
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
  const PictureFile timeline{.kind = "timeline", .path = options.timeline};
  absl::Status status;
  if (session.rank() == 0) status = CheckPictureFile(timeline);
  if (status.ok()) {
    status =
        RunTraining({options, *text->vocabulary, **trainer, **world, reporter});
  }
  if (status.ok()) {
    status = KeepTimeline(timeline, **trainer, reporter, session.rank());
  }
  if (!status.ok()) return status;
  if (session.rank() != 0 || options.sample == 0) return absl::OkStatus();
  const auto weights = (*trainer)->Weights();
  if (!weights.ok()) return weights.status();
  reporter.Say(text->vocabulary->Decode(
      Sample(**weights, {.count = options.sample}, {0})));
  return absl::OkStatus();
}

// The following functions perform the commands that use a checkpoint. The
// commands run in one process and print their results to stdout.

// Opens the newest checkpoint. Prints its folder to stderr, because stdout is
// for the results.
absl::StatusOr<TrainedGpt> Open(const std::string& directory) {
  absl::StatusOr<TrainedGpt> trained = OpenTrainedGpt(directory);
  if (trained.ok()) {
    std::fprintf(stderr, "gpt: from %s\n", trained->from.c_str());
  }
  return trained;
}

absl::Status ValidateGpt(const GptValidation& validation) {
  const auto trained = Open(validation.checkpoint_directory);
  if (!trained.ok()) return trained.status();
  const absl::StatusOr<GptText> text = LoadText(validation.text);
  if (!text.ok()) return text.status();
  const auto tokens = TokensInVocabulary(*text, *trained->vocabulary);
  if (!tokens.ok()) {
    return absl::Status(
        tokens.status().code(),
        absl::StrCat("the checkpoint's model (",
                     trained->vocabulary->Describe(), ") cannot read '",
                     validation.text.data, "': ", tokens.status().message(),
                     "; give a text of the characters that it was trained on"));
  }
  const GptBatches batches(*tokens, validation.seed, validation.batch,
                           trained->weights->config().context);
  if (absl::Status wrong = batches.Check(); !wrong.ok()) return wrong;
  const GptStage model(*trained->weights, validation.batch,
                       trained->weights->config().context);
  double loss = 0;
  for (int64_t i = 0; i < validation.batches; ++i) {
    absl::StatusOr<GptMicroBatch> batch = batches.Validation(i);
    if (!batch.ok()) return batch.status();
    std::vector<float> stream;
    model.Forward(&*batch, &stream);
    loss += model.LossOnly(&*batch, stream);
  }
  std::printf("step %lld  validation loss %.4f\n",
              static_cast<long long>(trained->step),
              loss / static_cast<double>(validation.batches));
  return absl::OkStatus();
}

absl::Status SampleGpt(const GptSampleCommand& command) {
  const auto trained = Open(command.checkpoint_directory);
  if (!trained.ok()) return trained.status();
  const auto prompt = trained->vocabulary->Encode(command.prompt);
  if (!prompt.ok()) return prompt.status();
  if (prompt->empty()) {
    return absl::InvalidArgumentError("--prompt is empty: what to go on from?");
  }
  const std::string text = trained->vocabulary->Decode(
      Sample(*trained->weights, command.sampling, *prompt));
  std::printf("%s\n", text.c_str());
  return absl::OkStatus();
}

absl::Status ExportGpt(const GptExport& exported) {
  const auto trained = Open(exported.checkpoint_directory);
  if (!trained.ok()) return trained.status();
  absl::Status status = WriteHuggingFaceModel(*trained->weights, exported.out);
  if (!status.ok()) return status;
  std::printf("step %lld as model.safetensors and config.json in %s\n",
              static_cast<long long>(trained->step), exported.out.c_str());
  return absl::OkStatus();
}

absl::Status Prepare(const GptPreparation& preparation) {
  const absl::StatusOr<int64_t> tokens =
      PrepareText(preparation.text, preparation.out);
  if (!tokens.ok()) return tokens.status();
  std::printf("%lld tokens in %s\n", static_cast<long long>(*tokens),
              preparation.out.c_str());
  return absl::OkStatus();
}

// Performs the requested command: a visitor of GptCommand, with one overload
// for the options of each command.
struct Do {
  absl::Status operator()(const GptTrainingOptions& options) const {
    return InSession(
        [&](Session& session) { return TrainGpt(options, session); });
  }
  absl::Status operator()(const GptPreparation& preparation) const {
    return Prepare(preparation);
  }
  absl::Status operator()(const GptValidation& validation) const {
    return ValidateGpt(validation);
  }
  absl::Status operator()(const GptSampleCommand& command) const {
    return SampleGpt(command);
  }
  absl::Status operator()(const GptExport& exported) const {
    return ExportGpt(exported);
  }
};

int Main(int argc, char** argv) {
  int exit_code = 2;
  const absl::StatusOr<GptCommand> command =
      ReadGptCommand(argc, argv, &exit_code);
  if (!command.ok()) {
    (exit_code == 0 ? std::cout : std::cerr) << command.status().message();
    return exit_code;
  }
  const absl::Status status =
      WithinMemory([&] { return std::visit(Do{}, *command); });
  if (!status.ok()) std::cerr << "gpt: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace muster::models

int main(int argc, char** argv) { return muster::models::Main(argc, argv); }
