#include "launcher/config/own_config.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/workers/worker_environment.h"
#include "base/nearest_name.h"
#include "base/word_split.h"
#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

constexpr char kProgram[] = "program";
constexpr char kEnv[] = "env";

class Reader {
 public:
  Reader(const std::vector<Flag>& flags, const ConfigSurroundings& surroundings)
      : flags_(flags), surroundings_(surroundings) {}

  absl::StatusOr<ConfigMeaning> Read(const YamlValue& document) {
    for (const YamlEntry& entry : document.entries) {
      const absl::Status read = entry.key == kProgram ? ReadProgram(entry)
                                : entry.key == kEnv   ? ReadEnv(entry)
                                                      : ReadFlag(entry);
      if (!read.ok()) return read;
    }
    return std::move(meaning_);
  }

 private:
  absl::Status Refuse(int line, const std::string& why) const {
    return absl::InvalidArgumentError(
        absl::StrCat(surroundings_.file_name, ":", line, ": ", why));
  }

  absl::Status ReadProgram(const YamlEntry& entry) {
    std::vector<std::string>& program = meaning_.defaults.program;
    if (entry.value.kind == YamlValue::Kind::kScalar) {
      absl::StatusOr<std::vector<std::string>> words =
          SplitWords(entry.value.text);
      if (!words.ok()) {
        return Refuse(entry.line,
                      absl::StrCat("program: ", words.status().message()));
      }
      program = *std::move(words);
    }
    for (const YamlValue& word : entry.value.items) {
      if (word.kind != YamlValue::Kind::kScalar) {
        return Refuse(word.line, "program: an argument that is no text");
      }
      program.push_back(word.text);
    }
    if (program.empty()) {
      return Refuse(entry.line,
                    "program: is empty; write for example [train.py, --lr, "
                    "'0.1']");
    }
    return absl::OkStatus();
  }

  absl::Status ReadEnv(const YamlEntry& entry) {
    if (entry.value.kind != YamlValue::Kind::kMap) {
      return Refuse(entry.line, "env: is no map; write lines of NAME: value");
    }
    for (const YamlEntry& variable : entry.value.entries) {
      if (variable.key.empty() || variable.key.find('=') != std::string::npos ||
          variable.value.kind == YamlValue::Kind::kList ||
          variable.value.kind == YamlValue::Kind::kMap) {
        return Refuse(variable.line, absl::StrCat("env: ", variable.key,
                                                  ": write NAME: text"));
      }
      if (agent::IsSetByAgent(variable.key)) {
        return Refuse(variable.line,
                      absl::StrCat("env: ", variable.key,
                                   ": is set for each worker by its place in "
                                   "the job; leave it out"));
      }
      meaning_.defaults.worker_environment[variable.key] = variable.value.text;
    }
    return absl::OkStatus();
  }

  absl::Status ReadFlag(const YamlEntry& entry) {
    std::string name = entry.key;
    std::replace(name.begin(), name.end(), '_', '-');
    const Flag* const flag = FindFlag(flags_, name);
    if (name == "config") {
      return Refuse(entry.line,
                    absl::StrCat(entry.key, ": a file names no other file"));
    }
    if (flag == nullptr || flag->group == FlagGroup::kGeneral) {
      return Refuse(entry.line, Unknown(entry.key));
    }
    const std::optional<std::string> text = TextOf(*flag, entry.value);
    if (!text.has_value()) {
      return Refuse(entry.line,
                    absl::StrCat(entry.key, ": wants a text",
                                 flag->IsSwitch() ? " (true or false)" : ""));
    }
    const auto [at, fresh] = meaning_.defaults.flags.emplace(
        name,
        FlagDefault{OriginOf(surroundings_, entry.line, entry.key), *text});
    if (!fresh) {
      return Refuse(entry.line, absl::StrCat(entry.key, ": given before, as ",
                                             at->second.origin));
    }
    return absl::OkStatus();
  }

  std::string Unknown(const std::string& key) const {
    std::vector<std::string> known = {kProgram, kEnv};
    for (const Flag& flag : flags_) {
      if (flag.group != FlagGroup::kGeneral &&
          flag.name != std::string("config")) {
        known.push_back(flag.name);
      }
    }
    const std::string nearest = NearestName(key, known);
    return absl::StrCat(
        key, ": unknown key; ",
        nearest.empty()
            ? std::string("keys are launch's flags, program and env")
            : absl::StrCat("did you mean ", nearest, "?"));
  }

  static std::optional<std::string> TextOf(const Flag& flag,
                                           const YamlValue& value) {
    switch (value.kind) {
      case YamlValue::Kind::kNull:
      case YamlValue::Kind::kMap:
        return std::nullopt;
      case YamlValue::Kind::kList: {
        std::string list;
        for (const YamlValue& item : value.items) {
          if (item.kind != YamlValue::Kind::kScalar) return std::nullopt;
          absl::StrAppend(&list, list.empty() ? "" : ",", item.text);
        }
        return list;
      }
      case YamlValue::Kind::kScalar:
        break;
    }
    const std::optional<bool> truth = ReadYamlTruth(value);
    if (flag.IsSwitch() && truth.has_value()) {
      return *truth ? "1" : "0";
    }
    return value.text;
  }

  const std::vector<Flag>& flags_;
  const ConfigSurroundings& surroundings_;
  ConfigMeaning meaning_;
};

}  // namespace

absl::StatusOr<ConfigMeaning> ReadOwnConfig(
    const YamlValue& document, const std::vector<Flag>& flags,
    const ConfigSurroundings& surroundings) {
  return Reader(flags, surroundings).Read(document);
}

}  // namespace muster::launcher
