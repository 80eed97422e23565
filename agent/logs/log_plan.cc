#include "agent/logs/log_plan.h"

#include <charconv>
#include <optional>
#include <string_view>

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

}  // namespace muster::agent
