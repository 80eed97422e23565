#ifndef MUSTER_MODELS_TRAINER_FLAG_CHOICE_H_
#define MUSTER_MODELS_TRAINER_FLAG_CHOICE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::models {

// For CLI::Option::transform: accepts one of these words as a value of an
// enumeration. CLI11's CheckedTransformer also accepts numbers, and shows them
// in its error.
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

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_FLAG_CHOICE_H_
