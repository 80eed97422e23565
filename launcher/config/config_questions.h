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
  const char* key;  // the flag it answers, or "program"
  const char* text;
  const char* fallback;  // the answer to an empty line
};

// Given answers so far, by key, what is asked next; nothing: that was all.
// Pure.
std::optional<ConfigQuestion> NextQuestion(
    const std::map<std::string, std::string>& answers);

// Why `answer` is none for the question: what the flag's own reader says. Pure.
absl::Status CheckAnswer(const ConfigQuestion& question,
                         const std::string& answer,
                         const std::vector<Flag>& flags);

// The file that says the answers; those that are flags' fallbacks are left out.
// Pure.
std::string ConfigOf(const std::map<std::string, std::string>& answers,
                     const std::vector<Flag>& flags);

// `text` as a scalar that YAML reads as this very text.
std::string YamlScalar(const std::string& text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_QUESTIONS_H_
