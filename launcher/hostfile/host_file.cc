#include "launcher/hostfile/host_file.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

constexpr size_t kLongestName = 255;

// One parsed line of a host file.
struct Entry {
  std::string name;
  std::string user;
  std::optional<int> slots;
  std::optional<int> max_slots;
};

// Quotes text from the host file for a message: at most 60 characters, with
// control characters replaced by '?'.
std::string Quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  std::string shown = "'";
  for (const char c : text.substr(0, kShown)) {
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return shown + (text.size() > kShown ? "...'" : "'");
}

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

bool IsUserName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || name[0] == '-') {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-' ||
           c == '\\' || c == '$';
  });
}

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// Splits a line into words and removes its comment. "slots = 4" counts as one
// word.
std::vector<std::string> Words(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string> words;
  // whether the last word ended with '=', so that the next word is appended to
  // it
  bool joins = false;
  size_t at = 0;
  while (at < line.size()) {
    if (IsBlank(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < line.size() && !IsBlank(line[end])) ++end;
    const std::string_view word = line.substr(at, end - at);
    at = end;
    if (!words.empty() && (joins || word[0] == '=')) {
      words.back() += word;
    } else {
      words.emplace_back(word);
    }
    joins = word.back() == '=';
  }
  return words;
}

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(what);
}

absl::StatusOr<int> ReadSlots(std::string_view text) {
  const absl::StatusOr<int64_t> number =
      ReadNumber(std::string(text), 1, kMaxSlots);
  if (number.ok()) return static_cast<int>(*number);
  return Wrong(absl::StrCat(
      Quoted(text), " is not a number of slots; write 1 to ", kMaxSlots));
}

// Parses the first word of a line: HOST, HOST:N or [V6]:N, optionally after
// USER@.
absl::Status ReadHost(std::string_view word, Entry& entry) {
  const std::string_view whole = word;
  const size_t at = word.rfind('@');
  if (at != std::string_view::npos) {
    entry.user = std::string(word.substr(0, at));
    if (!IsUserName(entry.user)) {
      return Wrong(absl::StrCat(Quoted(whole), " has no sound user name"));
    }
    word.remove_prefix(at + 1);
  }
  std::string_view slots;
  bool has_slots = false;
  if (!word.empty() && word[0] == '[') {
    const size_t close = word.find(']');
    const std::string_view after =
        close == std::string_view::npos ? "" : word.substr(close + 1);
    if (close == std::string_view::npos ||
        (!after.empty() && after[0] != ':')) {
      return Wrong(
          absl::StrCat(Quoted(whole),
                       " is no address in brackets; write [ADDRESS] or "
                       "[ADDRESS]:N"));
    }
    has_slots = !after.empty();
    if (has_slots) slots = after.substr(1);
    word = word.substr(1, close - 1);
  } else if (std::count(word.begin(), word.end(), ':') == 1) {
    const size_t colon = word.find(':');
    has_slots = true;
    slots = word.substr(colon + 1);
    word = word.substr(0, colon);
  }
  if (!IsHostName(word)) {
    return Wrong(absl::StrCat(
        Quoted(whole), " is no host name; write HOST, HOST slots=N or HOST:N"));
  }
  entry.name = std::string(word);
  if (!has_slots) return absl::OkStatus();
  const absl::StatusOr<int> number = ReadSlots(slots);
  if (!number.ok()) return number.status();
  entry.slots = *number;
  return absl::OkStatus();
}

// Parses a word after the host's name: KEY=VALUE.
absl::Status ReadKey(const std::string& word, Entry& entry) {
  const size_t equals = word.find('=');
  std::string key = word.substr(0, equals);
  std::replace(key.begin(), key.end(), '-', '_');
  const std::string value =
      equals == std::string::npos ? "" : word.substr(equals + 1);
  const bool is_slots = key == "slots" || key == "cpu" || key == "count";
  const bool is_most = key == "max_slots" || key == "slots_max";
  if (equals != std::string::npos && (is_slots || is_most)) {
    const absl::StatusOr<int> number = ReadSlots(value);
    if (!number.ok()) return number.status();
    std::optional<int>& target = is_slots ? entry.slots : entry.max_slots;
    if (target) {
      return Wrong(absl::StrCat("two numbers of slots for ", Quoted(entry.name),
                                "; write one"));
    }
    target = *number;
    return absl::OkStatus();
  }
  if (equals != std::string::npos && (key == "user" || key == "username")) {
    if (!IsUserName(value)) {
      return Wrong(absl::StrCat(Quoted(value), " is no user name"));
    }
    entry.user = value;
    return absl::OkStatus();
  }
  return Wrong(absl::StrCat("unknown word ", Quoted(word),
                            " after the host; write slots=N or leave it out"));
}

absl::StatusOr<Entry> ReadLine(const std::vector<std::string>& words) {
  Entry entry;
  absl::Status read = ReadHost(words[0], entry);
  for (size_t i = 1; read.ok() && i < words.size(); ++i) {
    read = ReadKey(words[i], entry);
  }
  if (!read.ok()) return read;
  return entry;
}

// The data that Add keeps about one host while it adds up the slots on all
// lines of this host. `place`: the host's index in the list of hosts.
// `max_slots`: the limit on the sum, if a line gives one.
struct Sum {
  size_t place = 0;
  std::optional<int> max_slots;
};

absl::Status Add(const Entry& entry, std::vector<Host>& hosts,
                 std::map<std::string, Sum>& known) {
  const auto [found, is_new] = known.try_emplace(entry.name);
  Sum& sum = found->second;
  if (is_new) {
    sum.place = hosts.size();
    hosts.push_back({.name = entry.name,
                     .user = entry.user,
                     .slots = entry.slots,
                     .chosen_slots = {}});
  } else {
    Host& host = hosts[sum.place];
    if (!entry.user.empty() && host.user != entry.user) {
      return Wrong(absl::StrCat(Quoted(entry.name),
                                " has another user on an earlier line; write "
                                "one of them"));
    }
    host.slots = host.slots.value_or(1) + entry.slots.value_or(1);
  }
  if (entry.max_slots) sum.max_slots = entry.max_slots;
  const int slots = hosts[sum.place].slots.value_or(1);
  if (slots > kMaxSlots) {
    return Wrong(absl::StrCat(Quoted(entry.name), " has ", slots,
                              " slots in all; at most ", kMaxSlots));
  }
  if (sum.max_slots && slots > *sum.max_slots) {
    return Wrong(absl::StrCat(Quoted(entry.name), " has ", slots,
                              " slots in all, but max_slots=", *sum.max_slots));
  }
  return absl::OkStatus();
}

}  // namespace

std::string Host::Destination() const {
  return user.empty() ? name : absl::StrCat(user, "@", name);
}

bool IsHostName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return false;
  if (!IsLetterOrDigit(name[0]) && name[0] != ':' && name[0] != '_') {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-' || c == ':' ||
           c == '%';
  });
}

absl::StatusOr<std::vector<Host>> ParseHostFile(std::string_view text) {
  if (text.size() > kMaxHostFileBytes) {
    return Wrong(absl::StrCat("is longer than ", kMaxHostFileBytes >> 20,
                              " MiB: is this a host file?"));
  }
  // Skip the byte order mark that editors on Windows write at the start of a
  // file.
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::vector<Host> hosts;
  std::map<std::string, Sum> known;
  int line_number = 0;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::vector<std::string> words =
        Words(text.substr(start, end - start));
    start = end + 1;
    ++line_number;
    if (words.empty()) continue;
    const absl::StatusOr<Entry> entry = ReadLine(words);
    const absl::Status added =
        entry.ok() ? Add(*entry, hosts, known) : entry.status();
    if (!added.ok()) {
      return Wrong(absl::StrCat("line ", line_number, ": ", added.message()));
    }
    if (hosts.size() > kMaxHosts) {
      return Wrong(absl::StrCat("line ", line_number, ": more than ", kMaxHosts,
                                " hosts"));
    }
  }
  if (hosts.empty()) {
    return Wrong(
        "names no host; write one on each line, such as worker-0 "
        "slots=8");
  }
  return hosts;
}

namespace {

// One entry of --include or --exclude: HOST[:SLOT,...].
struct Specification {
  std::string host;
  // the slots that the entry names; nullopt: all slots of the host
  std::optional<std::vector<int>> slots;
};

absl::StatusOr<std::vector<int>> ReadSlotList(std::string_view text) {
  std::vector<int> slots;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string part(text.substr(start, end - start));
    const absl::StatusOr<int64_t> slot = ReadNumber(part, 0, kMaxSlots - 1);
    if (!slot.ok()) {
      return Wrong(
          absl::StrCat("'", part, "' is not a slot; write for example 0,2"));
    }
    if (std::find(slots.begin(), slots.end(), *slot) == slots.end()) {
      slots.push_back(static_cast<int>(*slot));
    }
    start = end + 1;
  }
  return slots;
}

absl::StatusOr<Specification> ReadOne(std::string_view text) {
  Specification read;
  std::string_view slots;
  bool has_slots = false;
  const std::string whole(text);
  if (!text.empty() && text[0] == '[') {
    const size_t close = std::min(text.find(']'), text.size() - 1);
    const std::string_view after = text.substr(close + 1);
    has_slots = !after.empty();
    if (has_slots && after[0] != ':') {
      return Wrong(absl::StrCat("'", whole, "' is no [ADDRESS]:SLOTS"));
    }
    if (has_slots) slots = after.substr(1);
    text = text.substr(1, close - 1);
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    const size_t colon = text.find(':');
    has_slots = true;
    slots = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  if (!IsHostName(text)) {
    return Wrong(absl::StrCat("'", whole,
                              "' names no host; write HOST[:SLOT,...] with @ "
                              "between hosts"));
  }
  read.host = std::string(text);
  if (!has_slots) return read;
  absl::StatusOr<std::vector<int>> list = ReadSlotList(slots);
  if (!list.ok()) return list.status();
  read.slots = *std::move(list);
  return read;
}

absl::StatusOr<std::vector<Specification>> ReadAll(std::string_view text) {
  std::vector<Specification> all;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find('@', start), text.size());
    absl::StatusOr<Specification> one =
        ReadOne(text.substr(start, end - start));
    if (!one.ok()) return one.status();
    all.push_back(*std::move(one));
    start = end + 1;
  }
  return all;
}

absl::Status CheckSlots(const Host& host, const std::vector<int>& slots) {
  if (!host.slots) return absl::OkStatus();
  for (const int slot : slots) {
    if (slot >= *host.slots) {
      return Wrong(absl::StrCat(host.name, " has no slot ", slot,
                                ": it has 0 to ", *host.slots - 1));
    }
  }
  return absl::OkStatus();
}

using HostByName = std::map<std::string, Host>;

absl::StatusOr<HostByName> Included(const std::vector<Specification>& all,
                                    const HostByName& known) {
  HostByName kept;
  for (const Specification& one : all) {
    Host host = known.at(one.host);
    if (one.slots) {
      const absl::Status sound = CheckSlots(host, *one.slots);
      if (!sound.ok()) return sound;
      host.chosen_slots = *one.slots;
    }
    kept[one.host] = std::move(host);
  }
  return kept;
}

absl::StatusOr<HostByName> NotExcluded(const std::vector<Specification>& all,
                                       const HostByName& known) {
  HostByName kept = known;
  std::map<std::string, std::set<int>> gone;
  for (const Specification& one : all) {
    if (!one.slots) {
      kept.erase(one.host);
      continue;
    }
    const Host& host = known.at(one.host);
    if (!host.slots) {
      return Wrong(absl::StrCat(
          one.host,
          " has no number of slots in the host file, so none can be "
          "left out; write slots=N there"));
    }
    const absl::Status sound = CheckSlots(host, *one.slots);
    if (!sound.ok()) return sound;
    gone[one.host].insert(one.slots->begin(), one.slots->end());
  }
  for (const auto& [name, slots] : gone) {
    const auto found = kept.find(name);
    if (found == kept.end()) continue;
    Host& host = found->second;
    for (int slot = 0; slot < *host.slots; ++slot) {
      if (slots.count(slot) == 0) host.chosen_slots.push_back(slot);
    }
    if (host.chosen_slots.empty()) kept.erase(found);
  }
  return kept;
}

}  // namespace

absl::StatusOr<std::vector<Host>> FilterHosts(std::vector<Host> hosts,
                                              const std::string& include,
                                              const std::string& exclude) {
  if (include.empty() && exclude.empty()) return hosts;
  if (!include.empty() && !exclude.empty()) {
    return Wrong("--include: does not go with --exclude; give one of the two");
  }
  const std::string& text = include.empty() ? exclude : include;
  const std::string flag =
      absl::StrCat(include.empty() ? "--exclude=" : "--include=", text, ": ");
  const absl::StatusOr<std::vector<Specification>> all = ReadAll(text);
  if (!all.ok()) return Wrong(absl::StrCat(flag, all.status().message()));
  HostByName known;
  for (const Host& host : hosts) known[host.name] = host;
  for (const Specification& one : *all) {
    if (known.count(one.host) == 0) {
      return Wrong(absl::StrCat(flag, "the host file has no host ", one.host));
    }
  }
  const absl::StatusOr<HostByName> kept =
      include.empty() ? NotExcluded(*all, known) : Included(*all, known);
  if (!kept.ok()) return Wrong(absl::StrCat(flag, kept.status().message()));
  std::vector<Host> ordered;
  for (const Host& host : hosts) {
    const auto found = kept->find(host.name);
    if (found != kept->end()) ordered.push_back(found->second);
  }
  if (ordered.empty()) return Wrong(absl::StrCat(flag, "leaves no host"));
  return ordered;
}

}  // namespace muster::launcher
