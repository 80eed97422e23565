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
#include <variant>

#include "models/trainer/commands.h"
#include "models/trainer/gpt_command.h"
#include "models/trainer/text/gpt_text.h"
#include "models/trainer/training_loop.h"
#include "trainer_sdk/session/session.h"

namespace muster::models {
namespace {

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
