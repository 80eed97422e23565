#include "launcher/config/config_view.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "launcher/report/text_layout.h"

namespace muster::launcher {
namespace {

using Rows = std::vector<std::vector<std::string>>;

const char* FormatText(ConfigFormat format) {
  switch (format) {
    case ConfigFormat::kOwn:
      return "launch's own form";
    case ConfigFormat::kAccelerate:
      return "Accelerate's configuration";
    case ConfigFormat::kInstructLab:
      return "InstructLab's configuration";
  }
  return "";
}

const char* FormatWord(ConfigFormat format) {
  switch (format) {
    case ConfigFormat::kOwn:
      return "muster";
    case ConfigFormat::kAccelerate:
      return "accelerate";
    case ConfigFormat::kInstructLab:
      return "instructlab";
  }
  return "";
}

void AppendTable(const char* title, const Rows& rows, std::string& text) {
  if (rows.empty()) return;
  absl::StrAppend(&text, "\n", title, "\n");
  for (const std::string& line : AlignRows(rows)) {
    absl::StrAppend(&text, "  ", line, "\n");
  }
}

// Formats a command as a shell would read it: words with blanks are quoted.
std::string Words(const std::vector<std::string>& program) {
  std::string text;
  for (const std::string& word : program) {
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n'\"\\$") == std::string::npos;
    absl::StrAppend(&text, text.empty() ? "" : " ", plain ? "" : "'", word,
                    plain ? "" : "'");
  }
  return PrintableLine(text);
}

// JSON must be UTF-8: invalid bytes are replaced.
std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace

std::string ConfigText(const ConfigView& view) {
  const ConfigMeaning& meaning = view.meaning;
  std::string text = absl::StrCat(PrintableLine(view.file_name), ": ",
                                  FormatText(meaning.format), "\n");
  Rows flags;
  for (const ShownFlag& flag : view.flags) {
    flags.push_back(
        {absl::StrCat("--", flag.name, "=", PrintableLine(flag.text)),
         PrintableLine(flag.origin)});
  }
  AppendTable("Flags, and who gives them", flags, text);
  if (!meaning.defaults.program.empty()) {
    AppendTable("Program", {{Words(meaning.defaults.program)}}, text);
  }
  Rows variables;
  for (const auto& [name, value] : meaning.defaults.worker_environment) {
    variables.push_back(
        {absl::StrCat(PrintableLine(name), "=", PrintableLine(value))});
  }
  AppendTable("Variables of every worker", variables, text);
  Rows ignored;
  for (const IgnoredKey& key : meaning.ignored) {
    ignored.push_back(
        {absl::StrCat("line ", key.line), PrintableLine(key.key), key.why});
  }
  AppendTable("Without effect, and why", ignored, text);
  Rows remarks;
  for (const std::string& remark : meaning.defaults.remarks) {
    remarks.push_back({PrintableLine(remark)});
  }
  AppendTable("Remarks", remarks, text);
  return text;
}

std::string ConfigJson(const ConfigView& view) {
  const ConfigMeaning& meaning = view.meaning;
  nlohmann::ordered_json json;
  json["file"] = view.file_name;
  json["format"] = FormatWord(meaning.format);
  json["flags"] = nlohmann::ordered_json::array();
  for (const ShownFlag& flag : view.flags) {
    json["flags"].push_back(
        {{"name", flag.name}, {"value", flag.text}, {"origin", flag.origin}});
  }
  json["program"] = meaning.defaults.program;
  json["environment"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : meaning.defaults.worker_environment) {
    json["environment"][name] = value;
  }
  json["ignored"] = nlohmann::ordered_json::array();
  for (const IgnoredKey& key : meaning.ignored) {
    json["ignored"].push_back(
        {{"key", key.key}, {"line", key.line}, {"why", key.why}});
  }
  json["remarks"] = meaning.defaults.remarks;
  return Dump(json);
}

}  // namespace muster::launcher
