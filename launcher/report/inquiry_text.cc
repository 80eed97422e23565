#include "launcher/report/inquiry_text.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/logs/terminal_text.h"

namespace muster::launcher {
namespace {

constexpr std::string_view kThread = "thread ";
constexpr size_t kMaxNamedHosts = 4;

bool IsFrame(std::string_view line) { return line.starts_with("  "); }
bool IsKernelLine(std::string_view line) { return line.starts_with(kThread); }

// Removes the thread id from a kernel's description: "thread 4242 (python3),
// sleeping" becomes "thread (python3), sleeping".
std::string WithoutThreadId(std::string_view line) {
  if (!IsKernelLine(line)) return std::string(line);
  std::string_view rest = line.substr(kThread.size());
  rest.remove_prefix(
      std::min(rest.find_first_not_of("0123456789"), rest.size()));
  rest.remove_prefix(rest.starts_with(" ") ? 1 : 0);
  return std::string(kThread) + std::string(rest);
}

// Returns the lines of a stack that are compared: two stacks are equal if these
// lines are equal. `launch stacks` prints the lines once for each group of
// equal stacks.
std::vector<std::string> KeyOf(const std::vector<std::string>& lines) {
  const bool has_frames = std::ranges::any_of(lines, IsFrame);
  std::vector<std::string> key;
  bool has_kernel = false;
  for (const std::string& line : lines) {
    if (IsKernelLine(line)) {
      // A line from the kernel ("thread ...") says whether a thread sleeps or
      // runs, which changes from moment to moment. Leave out all lines from the
      // kernel if the stack has frames. Otherwise keep only the first of these
      // lines, which describes the main thread.
      if (has_frames || std::exchange(has_kernel, true)) continue;
    }
    key.push_back(WithoutThreadId(line));
  }
  return key;
}

std::string HostsText(const std::vector<std::string>& hosts) {
  std::vector<std::string> distinct;
  std::set<std::string> seen;
  for (const std::string& host : hosts) {
    if (seen.insert(host).second) distinct.push_back(host);
  }
  if (distinct.size() > kMaxNamedHosts) {
    return absl::StrCat(distinct.size(), " nodes");
  }
  std::string text;
  for (const std::string& host : distinct) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", PrintableLine(host));
  }
  return text;
}

std::string CleanLine(std::string_view line, TextStyle style) {
  return agent::WithVisibleFormats(agent::ValidUtf8(agent::WithoutControls(
      line, style == TextStyle::kColoured ? agent::Colours::kKeep
                                          : agent::Colours::kDrop)));
}

}  // namespace

std::string RankList(const std::vector<int>& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ",", ranks[i]);
    if (end > i) absl::StrAppend(&text, "-", ranks[end]);
    i = end + 1;
  }
  return text;
}

std::vector<StackGroup> FoldStacks(const std::vector<HostStack>& stacks) {
  std::vector<HostStack> by_rank = stacks;
  std::ranges::stable_sort(by_rank, {},
                           [](const HostStack& one) { return one.stack.rank; });
  std::map<std::vector<std::string>, StackGroup> by_key;
  for (const HostStack& one : by_rank) {
    std::vector<std::string> key = KeyOf(one.stack.lines);
    StackGroup& group = by_key[key];
    group.ranks.push_back(one.stack.rank);
    group.hosts.push_back(one.host);
    group.lines = std::move(key);
  }
  std::vector<StackGroup> groups;
  groups.reserve(by_key.size());
  for (auto& [key, group] : by_key) groups.push_back(std::move(group));
  std::ranges::sort(groups, {}, [](const StackGroup& group) {
    return std::tuple(group.lines.empty(), group.ranks.size(),
                      group.ranks.front());
  });
  return groups;
}

std::string StacksText(const std::vector<StackGroup>& groups,
                       const TextTarget& target) {
  size_t all = 0;
  for (const StackGroup& group : groups) all += group.ranks.size();
  std::string text;
  for (const StackGroup& group : groups) {
    const size_t count = group.ranks.size();
    const std::string title = absl::StrCat(
        count == 1 ? "rank " : "ranks ", RankList(group.ranks), " (", count,
        " of ", all, ") on ", HostsText(group.hosts), ":");
    absl::StrAppend(&text, Inked(title, Ink::kBold, target.style), "\n");
    if (group.lines.empty()) {
      absl::StrAppend(&text,
                      "  not readable: the process has ended, or may not be "
                      "read, or the time was over\n");
    }
    for (const std::string& line : group.lines) {
      absl::StrAppend(&text, "  ", CleanLine(line, TextStyle::kPlain), "\n");
    }
  }
  return text;
}

std::string OutputText::Format(const rendezvous::InquiryUpdate& update) {
  std::string text;
  const std::string host = PrintableLine(update.host);
  for (const rendezvous::OutputLine& line : update.part.lines) {
    const std::string prefix = absl::StrCat("[", host, ":", line.rank, "] ");
    int& round = rounds_[line.rank];
    if (round != 0 && round != line.round) {
      absl::StrAppend(&text, prefix,
                      Inked(absl::StrCat("--- round ", line.round, " ---"),
                            Ink::kFaint, style_),
                      "\n");
    }
    round = line.round;
    absl::StrAppend(&text, prefix, CleanLine(line.text, style_), "\n");
  }
  return text;
}

}  // namespace muster::launcher
