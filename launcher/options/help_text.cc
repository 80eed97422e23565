#include "launcher/options/help_text.h"

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

constexpr int kColumns = 80;
constexpr int kIndent = 6;

}  // namespace

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
      flag.kind == FlagKind::kValue ? absl::StrCat(" ", flag.placeholder) : "";
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
      std::string help = flag.help;
      if (flag.kind == FlagKind::kValue && flag.fallback[0] != '\0') {
        absl::StrAppend(&help, " [", flag.fallback, "]");
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
