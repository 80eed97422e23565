#include "agent/logs/log_plan.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "agent/logs/terminal_text.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxTextBytes = 64 << 10;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<StreamSet> ParseStreams(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '3') return std::nullopt;
  return static_cast<StreamSet>(text[0] - '0');
}

std::optional<int> ParseRank(std::string_view text) {
  int rank = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return rank < 0 ? std::nullopt : std::optional<int>(rank);
}

absl::Status Unreadable(std::string_view part, const std::string& why) {
  return absl::InvalidArgumentError(
      "'" + std::string(part) + "' " + why +
      "; give 0 (none), 1 (stdout), 2 (stderr) or 3 (both) for all workers, "
      "or by local rank, as in 0:1,1:2");
}

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

bool Contains(StreamSet set, StreamSet stream) {
  return (static_cast<int>(set) & static_cast<int>(stream)) != 0;
}

StreamSet StreamsByRank::For(int local_rank) const {
  if (by_local_rank.empty()) return all;
  auto found = by_local_rank.find(local_rank);
  return found == by_local_rank.end() ? StreamSet::kNone : found->second;
}

absl::StatusOr<StreamsByRank> ParseStreamsByRank(const std::string& text) {
  if (text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError("a list of streams over 64 KiB");
  }
  StreamsByRank result;
  if (std::optional<StreamSet> all = ParseStreams(Trim(text))) {
    result.all = *all;
    return result;
  }
  std::string_view rest = text;
  while (true) {
    size_t comma = rest.find(',');
    std::string_view part = Trim(rest.substr(0, comma));
    size_t colon = part.find(':');
    if (colon == std::string_view::npos) {
      return Unreadable(part, "is neither 0 to 3 nor of the form RANK:STREAMS");
    }
    std::optional<int> rank = ParseRank(part.substr(0, colon));
    std::optional<StreamSet> streams = ParseStreams(part.substr(colon + 1));
    if (!rank) return Unreadable(part, "does not begin with a local rank");
    if (!streams) return Unreadable(part, "does not end in 0, 1, 2 or 3");
    if (!result.by_local_rank.emplace(*rank, *streams).second) {
      return Unreadable(part, "names a local rank for the second time");
    }
    if (comma == std::string_view::npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

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
