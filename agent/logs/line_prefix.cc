#include "agent/logs/line_prefix.h"

#include <optional>
#include <string_view>

#include "agent/logs/terminal_text.h"

namespace muster::agent {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool IsNamePart(char c) { return IsLetter(c) || (c >= '0' && c <= '9'); }

std::optional<std::string> ValueOf(std::string_view name,
                                   const LineOwner& owner) {
  if (name == "role_name") return owner.role;
  if (name == "hostname") return owner.host;
  if (name == "rank") return std::to_string(owner.rank);
  if (name == "local_rank") return std::to_string(owner.local_rank);
  return std::nullopt;
}

// The variable name in "$NAME" or "${NAME}" at the beginning of `text`; empty:
// no variable.
std::string_view NameAt(std::string_view text) {
  const bool braced = text.substr(1, 1) == "{";
  const size_t start = braced ? 2 : 1;
  size_t end = start;
  if (end < text.size() && IsLetter(text[end])) {
    while (end < text.size() && IsNamePart(text[end])) ++end;
  }
  if (braced && text.substr(end, 1) != "}") return "";
  return text.substr(start, end - start);
}

}  // namespace

std::string LinePrefix(const std::string& line_template,
                       const LineOwner& owner) {
  if (line_template.empty()) {
    return "[" + owner.host + ":" + std::to_string(owner.rank) + "] ";
  }
  std::string prefix;
  std::string_view rest = line_template;
  while (!rest.empty()) {
    if (rest.substr(0, 2) == "$$") {
      prefix.push_back('$');
      rest.remove_prefix(2);
      continue;
    }
    const std::string_view name =
        rest[0] == '$' ? NameAt(rest) : std::string_view();
    const std::optional<std::string> value =
        name.empty() ? std::nullopt : ValueOf(name, owner);
    if (value) {
      prefix.append(*value);
      rest.remove_prefix(rest[1] == '{' ? name.size() + 3 : name.size() + 1);
    } else {
      prefix.push_back(rest[0]);
      rest.remove_prefix(1);
    }
  }
  return WithoutControls(prefix, Colours::kKeep);
}

}  // namespace muster::agent
