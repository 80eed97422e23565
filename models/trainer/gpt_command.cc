#include "models/trainer/gpt_command.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "models/trainer/training_flags.h"

namespace muster::models {
namespace {

void AddCheckpointFlag(CLI::App& app, std::string* directory) {
  app.add_option("--checkpoint-dir", *directory,
                 "the folder of checkpoints; the newest whole one is taken")
      ->required()
      ->check(CLI::ExistingDirectory);
}

// Returns OK if `word` is a command, otherwise InvalidArgument with a list of
// the commands. (CLI11 itself would only report that a command is missing.)
absl::Status CheckCommand(const CLI::App& app, const std::string& word) {
  std::string all;
  for (const CLI::App* const command :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return absl::OkStatus();
    absl::StrAppend(&all, all.empty() ? "" : ", ", command->get_name());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", word, "' is none of the commands ", all,
                   "\nRun with --help for more information.\n"));
}

}  // namespace

absl::StatusOr<GptCommand> ReadGptCommand(int argc, char** argv,
                                          int* exit_code) {
  CLI::App app("A GPT-2-style transformer: train it, and let it write.");
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();

  GptTrainingOptions training;
  CLI::App* const train = app.add_subcommand(
      "train",
      "Train on a text, on as many ranks as this is started on (launch, "
      "torchrun, mpirun, srun). The defaults are a small model for a CPU. "
      "SIGTERM and Ctrl-C stop behind a step, with a checkpoint.");
  AddTrainingFlags(*train, &training);

  GptPreparation preparation;
  CLI::App* const prepare = app.add_subcommand(
      "prepare", "Write a text's tokens to a file, for `train --data`.");
  AddTextFlags(*prepare, &preparation.text);
  prepare->add_option("--out", preparation.out, "the file")->required();

  GptValidation validation;
  CLI::App* const validate = app.add_subcommand(
      "validate", "The loss of the newest checkpoint on a text's last tenth.");
  AddTextFlags(*validate, &validation.text);
  AddCheckpointFlag(*validate, &validation.checkpoint_directory);
  validate->add_option("--batch", validation.batch, "windows in a micro-batch")
      ->check(WholeBetween(1, 1 << 20));
  validate->add_option("--batches", validation.batches, "micro-batches")
      ->check(WholeBetween(1, 1 << 20));
  validate->add_option("--seed", validation.seed, "of the windows")
      ->check(WholeFromZero());

  GptSampleCommand sample_command;
  CLI::App* const sample =
      app.add_subcommand("sample", "Text that the newest checkpoint writes.");
  AddCheckpointFlag(*sample, &sample_command.checkpoint_directory);
  sample->add_option("--prompt", sample_command.prompt, "what it goes on from");
  sample->add_option("--tokens", sample_command.sampling.count, "how many")
      ->check(WholeBetween(1, 1 << 20));
  sample
      ->add_option("--temperature", sample_command.sampling.temperature,
                   "below 1 for likelier text, above for wilder")
      ->check(AboveZero());
  sample
      ->add_option("--top-k", sample_command.sampling.most_likely,
                   "draw from the likeliest only; 0 for all")
      ->check(WholeBetween(0, 1 << 20));
  sample->add_option("--seed", sample_command.sampling.seed, "of the draws")
      ->check(WholeFromZero());

  GptExport exported;
  CLI::App* const exports =
      app.add_subcommand("export",
                         "The newest checkpoint's weights for Hugging Face's "
                         "GPT2LMHeadModel.from_pretrained.");
  AddCheckpointFlag(*exports, &exported.checkpoint_directory);
  exports
      ->add_option("--out", exported.out,
                   "a folder for model.safetensors and config.json")
      ->required();

  if (argc > 1 && argv[1][0] != '-') {
    const absl::Status status = CheckCommand(app, argv[1]);
    if (!status.ok()) {
      *exit_code = 2;
      return status;
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    *exit_code = app.exit(error, text, text) == 0 ? 0 : 2;
    return absl::InvalidArgumentError(text.str());
  }
  if (*prepare) return preparation;
  if (*validate) return validation;
  if (*sample) return sample_command;
  if (*exports) return exported;
  training.learning_rate.decay_until = training.steps;
  return training;
}

}  // namespace muster::models
