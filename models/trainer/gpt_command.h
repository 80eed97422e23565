#ifndef MUSTER_MODELS_TRAINER_GPT_COMMAND_H_
#define MUSTER_MODELS_TRAINER_GPT_COMMAND_H_

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "models/trainer/gpt_sampler.h"
#include "models/trainer/text/gpt_text.h"
#include "models/trainer/training_options.h"

namespace muster::models {

// Options of `gpt prepare`, which tokenises a text once and writes the tokens.
struct GptPreparation {
  GptTextFiles text;
  std::string out;
};

// Options of `gpt validate`, which computes the loss of the newest checkpoint.
struct GptValidation {
  GptTextFiles text;
  std::string checkpoint_directory;
  int64_t batch = 12;
  int64_t batches = 20;
  uint64_t seed = 1337;
};

// Options of `gpt sample`, which generates text with the newest checkpoint.
struct GptSampleCommand {
  std::string checkpoint_directory;
  std::string prompt = "\n";
  GptSampling sampling;
};

// Options of `gpt export`, which writes the weights of the newest checkpoint in
// the format of Hugging Face's GPT2LMHeadModel.
struct GptExport {
  std::string checkpoint_directory;
  std::string out;
};

// The options of one command. GptTrainingOptions are those of `gpt train`.
using GptCommand = std::variant<GptTrainingOptions, GptPreparation,
                                GptValidation, GptSampleCommand, GptExport>;

// Parses the command line. InvalidArgument: a flag is wrong; the message names
// the flag and the problem. If help was requested, the message is the help text
// and `exit_code` is 0.
absl::StatusOr<GptCommand> ReadGptCommand(int argc, char** argv,
                                          int* exit_code);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_GPT_COMMAND_H_
