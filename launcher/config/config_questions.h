#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_QUESTIONS_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_QUESTIONS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// One question of `launch config`.
struct ConfigQuestion {
  const char* key;  // name of the flag that the answer sets, or "program"
  const char* text;
  const char* fallback;  // the answer if the user enters an empty line
};

// Returns the next question, given the earlier answers by key; nullopt after
// the last question. Pure.
std::optional<ConfigQuestion> NextQuestion(
    const std::map<std::string, std::string>& answers);

// Checks that `answer` is a valid answer to `question`. If it is not, returns
// the error that `launch` reports for this value of the flag or, for the
// question about the program, InvalidArgument. Pure.
absl::Status CheckAnswer(const ConfigQuestion& question,
                         const std::string& answer,
                         const std::vector<Flag>& flags);

// The text of the configuration file with the answers. Answers that equal their
// flag's default are omitted. Pure.
std::string ConfigOf(const std::map<std::string, std::string>& answers,
                     const std::vector<Flag>& flags);

// Formats `text` as a YAML scalar that a parser reads as exactly `text`.
std::string YamlScalar(const std::string& text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_QUESTIONS_H_
