#ifndef MUSTER_MODELS_TRAINER_GPT_COMMAND_H_
#define MUSTER_MODELS_TRAINER_GPT_COMMAND_H_

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "models/trainer/gpt_sampler.h"
#include "models/trainer/text/gpt_text.h"
#include "models/trainer/training_options.h"

namespace muster {

// `gpt prepare`: a text's tokens, written once.
struct GptPreparation {
  GptTextFiles text;
  std::string out;
};

// `gpt validate`: the loss of the newest checkpoint.
struct GptValidation {
  GptTextFiles text;
  std::string checkpoint_directory;
  int64_t batch = 12;
  int64_t batches = 20;
  uint64_t seed = 1337;
};

// `gpt sample`: text that the newest checkpoint writes.
struct GptWriting {
  std::string checkpoint_directory;
  std::string prompt = "\n";
  GptSampling sampling;
};

// `gpt export`: its weights, as Hugging Face's GPT2LMHeadModel has them.
struct GptExport {
  std::string checkpoint_directory;
  std::string out;
};

// `gpt train` is GptTrainingOptions.
using GptCommand = std::variant<GptTrainingOptions, GptPreparation,
                                GptValidation, GptWriting, GptExport>;

// InvalidArgument: what is wrong with which flag, or the help that was asked
// for, with exit code 0 in `exit_code`.
absl::StatusOr<GptCommand> ReadGptCommand(int argc, char** argv,
                                          int* exit_code);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_GPT_COMMAND_H_
