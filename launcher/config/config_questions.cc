#include "launcher/config/config_questions.h"

#include "absl/strings/str_cat.h"
#include "base/word_split.h"
#include "launcher/config/yaml_value.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

constexpr char kProgram[] = "program";

constexpr ConfigQuestion kQuestions[] = {
    {kProgram, "Program and its arguments", "train.py"},
    {"nproc-per-node", "Workers on each node (a number, gpu, cpu or auto)",
     "auto"},
    {"nnodes", "Nodes (a number, or MIN:MAX where they come and go)", "1"},
    {"rdzv-endpoint",
     "Where nodes meet, HOST[:PORT] (empty: Slurm or Kubernetes says it)", ""},
    {"rdzv-id", "The job's name, equal on every node", "job"},
    {"max-restarts", "Worker failures that the job survives", "0"},
    {"log-dir",
     "Folder of log files (empty: a temporary one, kept if the job fails)", ""},
    {"framework-env",
     "Other launchers' variables: tf, jax, mpi, deepspeed, accelerate (empty: "
     "torchrun's alone)",
     ""},
};

bool ManyNodes(const std::map<std::string, std::string>& answers) {
  const auto nodes = answers.find("nnodes");
  return nodes != answers.end() && nodes->second != "1" &&
         nodes->second != "1:1";
}

bool IsAsked(const std::string& key,
             const std::map<std::string, std::string>& answers) {
  if (key == "rdzv-endpoint") return ManyNodes(answers);
  if (key == "rdzv-id") return !answers.at("rdzv-endpoint").empty();
  return true;
}

}  // namespace

std::optional<ConfigQuestion> NextQuestion(
    const std::map<std::string, std::string>& answers) {
  std::map<std::string, std::string> before = answers;
  before.emplace("rdzv-endpoint", "");
  for (const ConfigQuestion& question : kQuestions) {
    if (answers.count(question.key) == 0 && IsAsked(question.key, before)) {
      return question;
    }
  }
  return std::nullopt;
}

absl::Status CheckAnswer(const ConfigQuestion& question,
                         const std::string& answer,
                         const std::vector<Flag>& flags) {
  if (question.key == std::string(kProgram)) {
    const auto words = SplitWords(answer);
    if (!words.ok()) return words.status();
    return words->empty()
               ? absl::InvalidArgumentError("name a script or a program")
               : absl::OkStatus();
  }
  return ParseRunOptions(
             flags, {absl::StrCat("--", question.key, "=", answer), "p"}, {})
      .status();
}

std::string ConfigOf(const std::map<std::string, std::string>& answers,
                     const std::vector<Flag>& flags) {
  std::string text =
      "# Read by launch --config; keys are launch's flags. What the command\n"
      "# line or PET_ variables say goes before.\n";
  for (const ConfigQuestion& question : kQuestions) {
    const auto answer = answers.find(question.key);
    if (answer == answers.end()) continue;
    if (question.key == std::string(kProgram)) {
      absl::StrAppend(&text, "program:\n");
      // SplitWords succeeds here, because CheckAnswer has refused every answer
      // that SplitWords rejects.
      for (const std::string& word :
           SplitWords(answer->second).value_or(std::vector<std::string>())) {
        absl::StrAppend(&text, "  - ", YamlScalar(word), "\n");
      }
      continue;
    }
    const Flag* const flag = FindFlag(flags, question.key);
    // Do not write `nnodes: 1`, because 1 is the default. Where Slurm or
    // Kubernetes gives more nodes, the line would cause a remark or an error.
    if (question.key == std::string("nnodes") && !ManyNodes(answers)) continue;
    if (answer->second.empty() ||
        (flag != nullptr && answer->second == flag->default_text)) {
      continue;
    }
    absl::StrAppend(&text, question.key, ": ", YamlScalar(answer->second),
                    "\n");
  }
  if (ManyNodes(answers) && answers.count("rdzv-endpoint") > 0 &&
      !answers.at("rdzv-endpoint").empty()) {
    absl::StrAppend(&text, "rdzv-backend: c10d\n");
  }
  return text;
}

std::string YamlScalar(const std::string& text) {
  const bool plain =
      !text.empty() && text.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
                           "Z0123456789_./") == std::string::npos;
  const absl::StatusOr<YamlValue> read = ParseYaml(text);
  if (plain && read.ok() && read->kind == YamlValue::Kind::kScalar &&
      !ReadYamlTruth(*read).has_value()) {
    return text;
  }
  std::string quoted = "'";
  for (const char c : text) {
    absl::StrAppend(&quoted, c == '\'' ? "''" : std::string(1, c));
  }
  return quoted + "'";
}

}  // namespace muster::launcher
