#include "launcher/options/flag.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

constexpr int kColumns = 80;
constexpr int kIndent = 6;

}  // namespace

const char* GroupTitle(FlagGroup group) {
  switch (group) {
    case FlagGroup::kCluster:
      return "Nodes and where they meet";
    case FlagGroup::kRemote:
      return "Starting the other nodes' agents from here";
    case FlagGroup::kWorkers:
      return "Workers";
    case FlagGroup::kRestarts:
      return "Restarts and changes of membership";
    case FlagGroup::kHealth:
      return "Health checks";
    case FlagGroup::kOutput:
      return "Output";
    case FlagGroup::kStopping:
      return "Signals and stopping";
    case FlagGroup::kPreemption:
      return "Preemption";
    case FlagGroup::kAccepted:
      return "Accepted for compatibility";
    case FlagGroup::kGeneral:
      return "General";
  }
  return "";
}

std::string PetName(const Flag& flag) {
  std::string name = "PET_";
  for (const char* at = flag.name; *at != '\0'; ++at) {
    name.push_back(*at == '-'
                       ? '_'
                       : static_cast<char>(
                             *at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at));
  }
  return name;
}

std::string HelpOf(const Flag& flag) {
  return flag.more_help == nullptr
             ? std::string(flag.help)
             : absl::StrCat(flag.help, " ", flag.more_help());
}

const Flag* FindFlag(const std::vector<Flag>& flags, const std::string& name) {
  for (const Flag& flag : flags) {
    if (name == flag.name) return &flag;
  }
  return nullptr;
}

std::string Filled(const std::string& text, int indent, int columns) {
  const std::string blanks(static_cast<size_t>(indent), ' ');
  std::string filled;
  std::string line;
  size_t start = 0;
  while (start < text.size()) {
    const size_t space = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, space - start);
    const size_t width = line.empty() ? blanks.size() + word.size()
                                      : line.size() + 1 + word.size();
    if (!line.empty() && width > static_cast<size_t>(columns)) {
      absl::StrAppend(&filled, line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? blanks : " ", word);
    start = space + 1;
  }
  if (!line.empty()) absl::StrAppend(&filled, line, "\n");
  return filled;
}

std::string FlagUsage(const Flag& flag) {
  const std::string value =
      flag.IsSwitch() ? "" : absl::StrCat(" ", flag.value);
  std::string usage;
  if (flag.letter != 0) {
    usage = absl::StrCat("-", std::string(1, flag.letter), value, ", ");
  }
  return absl::StrCat(usage, "--", flag.name, value);
}

std::string FlagHelp(const std::vector<Flag>& flags) {
  std::string text;
  for (int group = 0; group < kFlagGroups; ++group) {
    std::string section;
    for (const Flag& flag : flags) {
      if (static_cast<int>(flag.group) != group) continue;
      std::string help = HelpOf(flag);
      if (!flag.IsSwitch() && flag.default_text[0] != '\0') {
        absl::StrAppend(&help, " [", flag.default_text, "]");
      }
      absl::StrAppend(&section, "  ", FlagUsage(flag), "\n",
                      Filled(help, kIndent, kColumns));
    }
    if (section.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "\n",
                    GroupTitle(static_cast<FlagGroup>(group)), ":\n", section);
  }
  return text;
}

}  // namespace muster::launcher
