#include "launcher/run_report/recorded_event.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/logs/terminal_text.h"

namespace muster::launcher {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxNameBytes = 256;
constexpr size_t kMaxTextBytes = 2048;
constexpr size_t kMaxNodes = 1024;
constexpr size_t kMaxIncidents = 64;
constexpr size_t kMaxSlowRanks = 64;
// Upper limit of each number of interruptions, so that sums do not overflow.
constexpr int kMaxCounted = 1'000'000;
constexpr size_t kMaxSettings = 40;
// Upper bound, in seconds, of the times and durations that Seconds reads: 3,000
// years. Larger values are reduced to this bound.
constexpr double kMaxSeconds = 1e11;

const Json* Find(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

std::string Text(const Json& json, const char* name, size_t max_bytes) {
  const Json* const value = Find(json, name);
  if (value == nullptr || !value->is_string()) return "";
  return agent::BoundedLine(value->get_ref<const std::string&>(), max_bytes);
}

std::vector<std::string> Lines(const Json& json, const char* name,
                               size_t max_lines) {
  const Json* const value = Find(json, name);
  std::vector<std::string> lines;
  if (value == nullptr || !value->is_array()) return lines;
  for (const Json& line : *value) {
    if (line.is_string()) lines.push_back(line.get<std::string>());
  }
  return agent::BoundedLastLines(lines, max_lines, rendezvous::kMaxLineBytes);
}

std::optional<double> Number(const Json& json, const char* name) {
  const Json* const value = Find(json, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// Reads the field `name` as a number of seconds. Returns 0 if the field is
// missing or negative, and at most kMaxSeconds.
double Seconds(const Json& json, const char* name) {
  return std::clamp(Number(json, name).value_or(0), 0.0, kMaxSeconds);
}

std::optional<int64_t> Whole(const Json& json, const char* name) {
  const Json* const value = Find(json, name);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() &&
      value->get<uint64_t>() >
          uint64_t{std::numeric_limits<int64_t>::max() / 2}) {
    return std::nullopt;
  }
  const int64_t number = value->get<int64_t>();
  if (std::abs(number / 2) > std::numeric_limits<int64_t>::max() / 4) {
    return std::nullopt;
  }
  return number;
}

// Reads the field `name`: a number, or one of the texts "nan", "inf" and
// "-inf", which stand for numbers that JSON cannot express.
std::optional<double> AnyNumber(const Json& json, const char* name) {
  const Json* const value = Find(json, name);
  if (value != nullptr && value->is_string()) {
    const std::string& text = value->get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return Number(json, name);
}

std::optional<int> Int(const Json& json, const char* name) {
  const std::optional<int64_t> number = Whole(json, name);
  if (!number || *number < std::numeric_limits<int>::min() ||
      *number > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  return static_cast<int>(*number);
}

// Reads the field `name` as a count. Returns 0 if the field is missing or
// negative.
int Count(const Json& json, const char* name) {
  return std::max(0, Int(json, name).value_or(0));
}

rendezvous::FailureKind KindOf(const std::string& text) {
  using enum rendezvous::FailureKind;
  if (text == "signal") return kSignal;
  if (text == "start failed") return kStartFailed;
  if (text == "stopped") return kStoppedByUs;
  if (text == "node lost") return kNodeLost;
  if (text == "hung") return kHung;
  return kExitCode;
}

rendezvous::Failure FailureOf(const Json& json) {
  rendezvous::Failure failure;
  failure.kind = KindOf(Text(json, "kind", kMaxNameBytes));
  failure.host = Text(json, "host", kMaxNameBytes);
  failure.node_id = Text(json, "node_id", kMaxNameBytes);
  failure.group_rank = Int(json, "group_rank").value_or(-1);
  failure.rank = Int(json, "rank").value_or(-1);
  failure.local_rank = Int(json, "local_rank").value_or(-1);
  failure.pid = Whole(json, "pid").value_or(0);
  failure.exit_code = Int(json, "exit_code").value_or(0);
  failure.signal = Int(json, "signal").value_or(0);
  failure.unix_time = Seconds(json, "unix_time");
  failure.message = Text(json, "message", kMaxTextBytes);
  failure.error_file = Text(json, "error_file", kMaxTextBytes);
  const Json* const traceback = Find(json, "traceback");
  if (traceback != nullptr && traceback->is_string()) {
    failure.traceback =
        agent::BoundedTail(traceback->get_ref<const std::string&>(),
                           rendezvous::kMaxTracebackBytes);
  }
  failure.stderr_tail = Lines(json, "stderr_tail", rendezvous::kMaxStderrLines);
  failure.stack = Lines(json, "stack", rendezvous::kMaxStackLines);
  return failure;
}

std::array<double, rendezvous::kActivities> ActivitiesOf(const Json* json) {
  std::array<double, rendezvous::kActivities> spent = {};
  if (json == nullptr) return spent;
  for (size_t i = 0; i < rendezvous::kActivities; ++i) {
    const auto activity = static_cast<rendezvous::Activity>(i);
    spent[i] = Seconds(*json, std::string(NameOf(activity)).c_str());
  }
  return spent;
}

rendezvous::LossCause LossCauseOf(const std::string& text) {
  for (size_t i = 0; i < rendezvous::kLossCauses; ++i) {
    const auto cause = static_cast<rendezvous::LossCause>(i);
    if (text == NameOf(cause)) return cause;
  }
  return rendezvous::LossCause::kUnknown;
}

std::array<rendezvous::JobTime::Sum, rendezvous::kLossCauses> LossesOf(
    const Json* json) {
  std::array<rendezvous::JobTime::Sum, rendezvous::kLossCauses> by_cause = {};
  if (json == nullptr) return by_cause;
  for (size_t i = 0; i < rendezvous::kLossCauses; ++i) {
    const auto cause = static_cast<rendezvous::LossCause>(i);
    const Json* const sum = Find(*json, std::string(NameOf(cause)).c_str());
    if (sum == nullptr) continue;
    by_cause[i] = {.incidents = std::min(Count(*sum, "count"), kMaxCounted),
                   .pause_s = Seconds(*sum, "lost_seconds")};
  }
  return by_cause;
}

rendezvous::JobTime TimeOf(const Json& json) {
  rendezvous::JobTime time;
  time.spent_s = ActivitiesOf(Find(json, "node_seconds"));
  time.by_cause = LossesOf(Find(json, "interruptions"));
  const Json* const by_node = Find(json, "by_node");
  if (by_node != nullptr && by_node->is_array()) {
    for (const Json& one : *by_node) {
      if (time.by_host.size() == rendezvous::kMaxLossHosts) break;
      time.by_host.push_back({.host = Text(one, "host", kMaxNameBytes),
                              .by_cause = LossesOf(Find(one, "causes"))});
    }
  }
  const Json* const newest = Find(json, "newest_interruptions");
  if (newest == nullptr || !newest->is_array()) return time;
  for (const Json& one : *newest) {
    if (time.newest.size() == kMaxIncidents) break;
    // The event log contains the pause of each interruption (the mean time that
    // a node lost), but not the number of nodes. Store the pause as the time
    // lost by a single node: Incident::pause_s(), which divides `lost_s` by
    // `nodes`, then returns the pause.
    time.newest.push_back(
        {.round = Count(one, "round"),
         .cause = LossCauseOf(Text(one, "cause", kMaxNameBytes)),
         .host = Text(one, "host", kMaxNameBytes),
         .why = Text(one, "reason", kMaxTextBytes),
         .nodes = 1,
         .lost_s = Seconds(one, "lost_seconds")});
  }
  return time;
}

std::optional<RecordedProgress> ProgressOf(const Json* json) {
  if (json == nullptr || !json->is_object()) return std::nullopt;
  return RecordedProgress{
      .ranks = Count(*json, "ranks"),
      .least_step = Whole(*json, "least_step"),
      .max_step = Whole(*json, "max_step"),
      .loss = AnyNumber(*json, "loss"),
      .tokens_per_s = std::max(0.0, Number(*json, "tokens_per_s").value_or(0))};
}

std::optional<RecordedVerdict> VerdictOf(const Json* json) {
  if (json == nullptr || !json->is_object()) return std::nullopt;
  return RecordedVerdict{.outcome = Text(*json, "outcome", kMaxNameBytes),
                         .exit_code = Int(*json, "exit_code").value_or(1),
                         .reason = Text(*json, "reason", kMaxTextBytes),
                         .lasted_s = Seconds(*json, "seconds"),
                         .rounds = Count(*json, "rounds"),
                         .restarts_used = Count(*json, "restarts_used")};
}

std::vector<RecordedNode> NodesOf(const Json& json) {
  std::vector<RecordedNode> nodes;
  for (const Json& one : json) {
    if (nodes.size() == kMaxNodes) break;
    nodes.push_back({.node_id = Text(one, "node_id", kMaxNameBytes),
                     .host = Text(one, "host", kMaxNameBytes),
                     .group_rank = Int(one, "group_rank"),
                     .first_rank = Int(one, "first_rank"),
                     .slots = Count(one, "slots"),
                     .unhealthy = Text(one, "unhealthy", kMaxTextBytes),
                     .spent_s = ActivitiesOf(Find(one, "seconds"))});
  }
  return nodes;
}

std::string ValueText(const Json& value) {
  if (value.is_string()) {
    return agent::BoundedLine(value.get_ref<const std::string&>(),
                              kMaxTextBytes);
  }
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return absl::StrCat(value.get<int64_t>());
  if (value.is_number()) return absl::StrCat(value.get<double>());
  return "";
}

RecordedState StateOf(const Json& json) {
  RecordedState state;
  state.phase = Text(json, "phase", kMaxNameBytes);
  state.age_s = Seconds(json, "age_seconds");
  state.world_size = Count(json, "world_size");
  state.restarts_used = Count(json, "restarts_used");
  state.max_restarts = Count(json, "max_restarts");
  state.progress = ProgressOf(Find(json, "progress"));
  if (const Json* const time = Find(json, "time")) state.time = TimeOf(*time);
  const Json* const slow = Find(json, "slow_ranks");
  if (slow != nullptr && slow->is_array()) {
    for (const Json& one : *slow) {
      if (state.slow_ranks.size() == kMaxSlowRanks) break;
      state.slow_ranks.push_back({.rank = Count(one, "rank"),
                                  .host = Text(one, "host", kMaxNameBytes),
                                  .gpu = Text(one, "gpu", kMaxNameBytes),
                                  .phase = Text(one, "phase", kMaxNameBytes),
                                  .ratio = Number(one, "ratio").value_or(0)});
    }
  }
  const Json* const verdict = Find(json, "verdict");
  state.verdict = VerdictOf(verdict);
  // If the job has a verdict, use the verdict's account of the nodes' time,
  // which every `launch` has printed. Nodes may have reported more time after
  // the verdict.
  if (state.verdict.has_value() && Find(*verdict, "time") != nullptr) {
    state.time = TimeOf(*Find(*verdict, "time"));
  }
  const Json* const settings = Find(json, "settings");
  if (settings != nullptr && settings->is_object()) {
    for (const auto& [name, value] : settings->items()) {
      if (state.settings.size() == kMaxSettings) break;
      state.settings.emplace_back(agent::BoundedLine(name, kMaxNameBytes),
                                  ValueText(value));
    }
  }
  const Json* const nodes = Find(json, "nodes");
  if (nodes != nullptr && nodes->is_array()) {
    state.nodes = NodesOf(*nodes);
    state.nodes_omitted =
        std::max<int64_t>(0, Whole(json, "nodes_omitted").value_or(0));
  }
  return state;
}

// Reads a number of exactly `digits` digits at the offset `at`.
std::optional<int> Digits(std::string_view text, size_t at, size_t digits) {
  int value = 0;
  for (const char c : text.substr(at, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

}  // namespace

std::optional<double> ParseIsoTime(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
  if (text.size() != kForm.size()) return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    if (kForm[i] != '0' && text[i] != kForm[i]) return std::nullopt;
  }
  std::array<int, 7> parts = {};
  constexpr std::pair<size_t, size_t> kPlaces[] = {
      {0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}, {20, 3}};
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto part = Digits(text, kPlaces[i].first, kPlaces[i].second);
    if (!part) return std::nullopt;
    parts[i] = *part;
  }
  namespace chrono = std::chrono;
  const chrono::year_month_day date{
      chrono::year(parts[0]), chrono::month(static_cast<unsigned>(parts[1])),
      chrono::day(static_cast<unsigned>(parts[2]))};
  if (!date.ok() || parts[0] < 1970 || parts[3] > 23 || parts[4] > 59 ||
      parts[5] > 60) {
    return std::nullopt;
  }
  const auto days = chrono::sys_days(date).time_since_epoch();
  return static_cast<double>(days.count()) * 86400 + parts[3] * 3600.0 +
         parts[4] * 60.0 + parts[5] + parts[6] / 1000.0;
}

std::optional<RecordedEvent> ParseEvent(std::string_view line) {
  if (line.size() > kMaxEventLineBytes) return std::nullopt;
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const std::optional<double> time = ParseIsoTime(Text(json, "time", 64));
  RecordedEvent event{.time = time.value_or(0),
                      .run_id = Text(json, "run_id", kMaxNameBytes),
                      .round = Count(json, "round"),
                      .kind = Text(json, "kind", kMaxNameBytes),
                      .node = Text(json, "node", kMaxNameBytes),
                      .reason = Text(json, "reason", kMaxTextBytes),
                      .failure = std::nullopt,
                      .state = std::nullopt};
  if (!time.has_value() || event.kind.empty()) return std::nullopt;
  const Json* const failure = Find(json, "failure");
  if (failure != nullptr && failure->is_object()) {
    event.failure = FailureOf(*failure);
  }
  const Json* const state = Find(json, "state");
  if (state != nullptr && state->is_object()) event.state = StateOf(*state);
  return event;
}

}  // namespace muster::launcher
