#include "launcher/hostfile/host_filter.h"

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

// One entry of a filter: HOST[:SLOT,...].
struct Specification {
  std::string host;
  std::optional<std::vector<int>> slots;  // nullopt: all slots
};

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(what);
}

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
