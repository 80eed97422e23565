#include "launcher/cluster/slurm/host_list.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/is_digits.h"

namespace muster::launcher {
namespace {

constexpr size_t kMaxHosts = 65536;
constexpr size_t kMaxBytes = 1 << 20;
// Maximum length of one host name in bytes. Together with kMaxHosts, it bounds
// the memory for all names.
constexpr size_t kLongestName = 255;
constexpr size_t kMaxDigits = 15;

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(what);
}

std::string Padded(uint64_t number, size_t width) {
  std::string digits = absl::StrCat(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

// Splits `text` at commas. Pieces may be empty.
std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Expands the content of a bracket: "01-03,7" gives 01, 02, 03, 7.
absl::StatusOr<std::vector<std::string>> ExpandRanges(const std::string& text) {
  std::vector<std::string> numbers;
  for (const std::string& range : SplitAtCommas(text)) {
    const size_t dash = range.find('-');
    const std::string low = range.substr(0, dash);
    const std::string high =
        dash == std::string::npos ? low : range.substr(dash + 1);
    if (!IsDigits(low, kMaxDigits) || !IsDigits(high, kMaxDigits)) {
      return Wrong(absl::StrCat("'", range, "' is no range of numbers"));
    }
    const uint64_t first = std::stoull(low);
    const uint64_t last = std::stoull(high);
    if (last < first) return Wrong(absl::StrCat("'", range, "' runs down"));
    if (last - first >= kMaxHosts - numbers.size()) {
      return Wrong(absl::StrCat("more than ", kMaxHosts, " hosts"));
    }
    for (uint64_t number = first; number <= last; ++number) {
      numbers.push_back(Padded(number, low.size()));
    }
  }
  return numbers;
}

// Replaces `heads`, which are beginnings of host names, by all concatenations
// of a head and one of `tails`. `already`: the number of hosts that earlier
// entries of the list gave. InvalidArgument: the list has more than kMaxHosts
// hosts, or a name is too long.
absl::Status Multiply(const std::vector<std::string>& tails, size_t already,
                      std::vector<std::string>& heads) {
  if (heads.size() * tails.size() > kMaxHosts - already) {
    return Wrong(absl::StrCat("more than ", kMaxHosts, " hosts"));
  }
  std::vector<std::string> all;
  all.reserve(heads.size() * tails.size());
  for (const std::string& head : heads) {
    for (const std::string& tail : tails) {
      if (head.size() + tail.size() > kLongestName) {
        return Wrong(absl::StrCat("a host's name of more than ", kLongestName,
                                  " characters"));
      }
      all.push_back(head + tail);
    }
  }
  heads = std::move(all);
  return absl::OkStatus();
}

bool IsInName(char c) {
  return static_cast<unsigned char>(c) > ' ' && c != 0x7f && c != '/';
}

// Expands one entry of the list, "n[1-2]x[3-4]", and appends its hosts to
// `all`.
absl::Status ExpandEntry(const std::string& entry,
                         std::vector<std::string>& all) {
  std::vector<std::string> names = {""};
  for (size_t at = 0; at < entry.size();) {
    std::vector<std::string> pieces;
    if (entry[at] == '[') {
      const size_t close = entry.find(']', at);
      if (close == std::string::npos) return Wrong("'[' without ']'");
      auto numbers = ExpandRanges(entry.substr(at + 1, close - at - 1));
      if (!numbers.ok()) return numbers.status();
      pieces = *std::move(numbers);
      at = close + 1;
    } else {
      const size_t end = std::min(entry.find('[', at), entry.size());
      pieces = {entry.substr(at, end - at)};
      if (pieces[0].find(']') != std::string::npos) {
        return Wrong("']' without '['");
      }
      if (!std::all_of(pieces[0].begin(), pieces[0].end(), IsInName)) {
        return Wrong("a character that no host's name has");
      }
      at = end;
    }
    const absl::Status bounded = Multiply(pieces, all.size(), names);
    if (!bounded.ok()) return bounded;
  }
  all.insert(all.end(), names.begin(), names.end());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandHostList(
    const std::string& text) {
  if (text.size() > kMaxBytes) return Wrong("too long");
  std::vector<std::string> hosts;
  std::string entry;
  bool in_brackets = false;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == ',' && (!in_brackets || i == text.size())) {
      if (entry.empty()) continue;
      const absl::Status expanded = ExpandEntry(entry, hosts);
      if (!expanded.ok()) return expanded;
      entry.clear();
      continue;
    }
    if (c == '[') in_brackets = true;
    if (c == ']') in_brackets = false;
    entry += c;
  }
  return hosts;
}

}  // namespace muster::launcher
