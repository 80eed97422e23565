#include "trainer_sdk/examples/gpt/gpt_options.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace muster {

absl::StatusOr<GptTrainingOptions> ReadGptOptions(int argc, char** argv,
                                                  int* exit_code) {
  GptTrainingOptions options;
  CLI::App app(
      "Trains a GPT-2-style transformer on the characters of a text, on as "
      "many ranks as it is started on.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", options.data, "the text")->required();
  app.add_option("--log", options.log, "a file for the log, as JSON lines");
  app.add_option("--context", options.model.context, "characters of a window");
  app.add_option("--layers", options.model.layers, "transformer blocks");
  app.add_option("--heads", options.model.heads, "attention heads of a block");
  app.add_option("--width", options.model.width, "of the residual stream");
  app.add_flag_callback(
      "--biases", [&] { options.model.biases = GptConfig::Biases::kAll; },
      "linear layers and norms have biases");
  app.add_option("--batch", options.batch, "windows in a micro-batch")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--micro-batches", options.micro_batches,
                 "micro-batches in a step, of all ranks together; a multiple "
                 "of the number of ranks")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--steps", options.steps, "steps of the optimizer")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--learning-rate", options.learning_rate.peak, "the highest");
  app.add_option("--last-learning-rate", options.learning_rate.floor,
                 "the lowest, at the end");
  app.add_option("--warmup", options.learning_rate.warmup,
                 "steps until the highest learning rate");
  app.add_option("--weight-decay", options.adamw.weight_decay,
                 "of matrices; vectors have none");
  app.add_option("--beta2", options.adamw.beta2, "AdamW's");
  app.add_option("--clip", options.clip,
                 "the gradient's longest norm; 0 for any");
  app.add_option("--seed", options.seed, "of weights and data");
  app.add_option("--log-every", options.log_every, "steps")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--validate-every", options.validate_every,
                 "steps; 0 for never")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option("--validation-batches", options.validation_batches,
                 "micro-batches of a validation")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--sample", options.sample, "characters to write at the end")
      ->check(CLI::Range(0, 1 << 20));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    *exit_code = app.exit(error, text, text);
    return absl::InvalidArgumentError(text.str());
  }
  options.learning_rate.decay_until = options.steps;
  return options;
}

}  // namespace muster
