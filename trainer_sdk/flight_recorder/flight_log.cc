#include "trainer_sdk/flight_recorder/flight_log.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster {

std::vector<FlightGroupKey> KeysOf(const FlightLog& log) {
  std::vector<FlightGroupKey> keys;
  std::map<FlightGroupKey, int> alike;
  for (const FlightGroup& group : log.groups) {
    FlightGroupKey key = {group.name, group.members, group.birth};
    key.nth = ++alike[key];
    keys.push_back(std::move(key));
  }
  return keys;
}

bool WasMadeAgain(const FlightLog& log, int group, double since) {
  const std::string& name = log.groups[group].name;
  for (size_t i = static_cast<size_t>(group) + 1; i < log.groups.size(); i++) {
    const FlightGroup& later = log.groups[i];
    if (later.made >= since &&
        (later.name == name ||
         absl::StartsWith(name, absl::StrCat(later.name, "/")))) {
      return true;
    }
  }
  return false;
}

std::string FlightGroupLabel(const FlightLog& log, int group) {
  const FlightGroup& named = log.groups[group];
  int number = 1;
  for (int i = 0; i < group; i++) {
    if (log.groups[i].name == named.name &&
        log.groups[i].members == named.members) {
      number++;
    }
  }
  return number == 1 ? named.name
                     : absl::StrCat(named.name, " (no. ", number, ")");
}

namespace {

using Json = nlohmann::ordered_json;

constexpr char kBeginning[] = R"({"format":"muster worker ends 1")";
constexpr int64_t kMaxRanks = 1000000;
constexpr size_t kMaxText = 400;

constexpr std::pair<const char*, HowEnded> kNames[] = {
    {"killed", HowEnded::kKilled},   {"exited", HowEnded::kExited},
    {"hung", HowEnded::kHung},       {"not started", HowEnded::kNotStarted},
    {"stopped", HowEnded::kStopped},
};

absl::Status Bad(const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("not an agent's file of how workers ended: ", what));
}

// Returns the integer at `key` if it is in [least, most]; otherwise a value
// below `least`.
int64_t Whole(const Json& object, const char* key, int64_t least,
              int64_t most) {
  const Json& number = object.at(key);
  if (!number.is_number_integer()) return least - 1;
  if (number.is_number_unsigned() &&
      number.get<uint64_t>() > static_cast<uint64_t>(most)) {
    return least - 1;
  }
  const int64_t value = number.get<int64_t>();
  return value > most ? least - 1 : value;
}

std::string Text(const Json& object, const char* key) {
  std::string text = object.at(key).get<std::string>().substr(0, kMaxText);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return text;
}

absl::StatusOr<FlightEnd> EndOf(const Json& json, int world_size) {
  FlightEnd end;
  end.rank = static_cast<int>(Whole(json, "rank", 0, world_size - 1));
  if (end.rank < 0) return Bad("a rank outside of its world");
  end.pid = Whole(json, "pid", 0, INT32_MAX);
  if (end.pid < 0) return Bad("no process id");
  end.host = Text(json, "host");
  end.message = Text(json, "message");
  end.time = json.at("time").get<double>();
  const auto how = json.at("how").get<std::string>();
  for (const auto& [name, value] : kNames) {
    if (how != name) continue;
    end.how = value;
    return end;
  }
  return Bad("an end of an unknown kind");
}

absl::StatusOr<FlightEnds> EndsOf(const Json& json) {
  FlightEnds all;
  all.round = static_cast<int>(Whole(json, "round", 0, INT32_MAX));
  all.world_size = static_cast<int>(Whole(json, "world_size", 1, kMaxRanks));
  if (all.round < 0) return Bad("no round");
  if (all.world_size < 1) return Bad("a world of no possible size");
  const Json& workers = json.at("workers");
  if (!workers.is_array()) return Bad("no workers");
  for (const Json& worker : workers) {
    absl::StatusOr<FlightEnd> end = EndOf(worker, all.world_size);
    if (!end.ok()) return end.status();
    all.ends.push_back(*std::move(end));
  }
  return all;
}

}  // namespace

bool AreFlightEnds(const std::string& bytes) {
  return absl::StartsWith(bytes, kBeginning);
}

absl::StatusOr<FlightEnds> ParseFlightEnds(const std::string& text) {
  if (!AreFlightEnds(text)) return Bad("not of this version");
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Bad("no JSON object");
  // The JSON library reports missing keys and wrong types only by exceptions,
  // so catch them.
  try {
    return EndsOf(json);
  } catch (const std::exception& error) {
    // Skip the prefix of the JSON library's message, such as
    // "[json.exception.out_of_range.403] ".
    const std::string what = error.what();
    const size_t begin = what.find("] ");
    return Bad(begin == std::string::npos ? what : what.substr(begin + 2));
  }
}

}  // namespace muster
