#ifndef MUSTER_MODELS_TRAINER_TRAINING_FLAGS_H_
#define MUSTER_MODELS_TRAINER_TRAINING_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/trainer/training_options.h"

namespace muster::models {

// For CLI::Option::transform: converts one of the given words to a value of an
// enumeration. CLI11's own CheckedTransformer would also accept numbers, and
// show them in its error.
template <typename T>
CLI::Validator Choice(std::vector<std::pair<std::string, T>> words) {
  const auto choose = [words = std::move(words)](std::string& word) {
    std::string all;
    for (const auto& [name, value] : words) {
      if (name == word) {
        word = std::to_string(static_cast<int>(value));
        return std::string();
      }
      absl::StrAppend(&all, all.empty() ? "" : ", ", name);
    }
    return absl::StrCat("'", word, "' is none of ", all);
  };
  return CLI::Validator(choose, "");
}

// For CLI::Option::check: FromZero accepts a number of 0 or more, AboveZero a
// number above 0. Their error messages are in words. CLI11's own checks would
// accept nan, and print their bounds with all 309 digits. No check in this file
// accepts an infinity.
CLI::Validator FromZero();
CLI::Validator AboveZero();
// Accepts a number in [0, 1), such as AdamW's betas.
CLI::Validator FromZeroToBelowOne();

// Accepts an integer of at most 32 bits between the bounds. CLI11's own error
// message would only be "not in range".
CLI::Validator WholeBetween(int least, int most);

// Accepts an integer of 64 bits that is not negative. CLI11 would convert -1 to
// the largest value.
CLI::Validator WholeFromZero();

// Adds --data, --vocab and --merges, which set `files`.
void AddTextFlags(CLI::App& app, GptTextFiles* files);

// Adds the flags that every training of a GPT has, however it is distributed:
// text, model, optimizer, checkpoints, log.
void AddCommonFlags(CLI::App& app, GptTrainingOptions* options);

// Adds all flags of `gpt train`.
void AddTrainingFlags(CLI::App& app, GptTrainingOptions* options);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TRAINING_FLAGS_H_
