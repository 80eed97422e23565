#include "trainer_sdk/flight_recorder/flight_json.h"

#include <cstdint>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/flight_recorder/flight_ring.h"
#include "trainer_sdk/process_group/operation.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "muster flight recorder 2";

template <typename Enum>
absl::StatusOr<Enum> Named(const std::string& name, int values) {
  for (int i = 0; i < values; i++) {
    const auto value = static_cast<Enum>(i);
    if (name == Name(value)) return value;
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown name '", name, "'"));
}

// An integer that fits T; otherwise throws the JSON library's exception.
template <typename T>
T Whole(const Json& object, const char* key) {
  const Json& number = object.at(key);
  const bool fits =
      number.is_number_unsigned()
          ? number.get<uint64_t>() <=
                static_cast<uint64_t>(std::numeric_limits<T>::max())
          : number.is_number_integer() && std::is_signed_v<T> &&
                number.get<int64_t>() >=
                    static_cast<int64_t>(std::numeric_limits<T>::min());
  if (!fits) throw std::out_of_range(absl::StrCat("'", key, "' is no count"));
  return number.get<T>();
}

// The library's message without the leading name of the exception.
std::string WithoutTag(const std::string& what) {
  const size_t end = what.find("] ");
  return what[0] == '[' && end != std::string::npos ? what.substr(end + 2)
                                                    : what;
}

std::string StateOf(const FlightRecord& record) {
  if (record.ended != 0) return absl::StatusCodeToString(record.status);
  return record.started != 0 ? "STARTED" : "QUEUED";
}

Json RecordJson(const FlightLog& log, const FlightRecord& record) {
  const OperationSignature& signature = record.signature;
  Json json;
  json["number"] = record.number;
  json["group"] = record.group;
  json["group_name"] = log.groups.at(record.group).name;
  json["sequence"] = signature.sequence;
  json["kind"] = Name(signature.kind);
  json["dtype"] = Name(signature.dtype);
  json["mixed"] = signature.mixed;
  json["op"] = Name(signature.reduce_op);
  json["root"] = signature.root;
  json["count"] = signature.count;
  json["counts_hash"] = signature.counts_hash;
  if (!record.peers.empty()) json["peers"] = record.peers;
  json["bytes"] = record.bytes;
  json["queued"] = record.queued;
  json["started"] = record.started;
  json["ended"] = record.ended;
  json["state"] = StateOf(record);
  return json;
}

absl::StatusOr<FlightRecord> RecordOf(const Json& json, size_t groups) {
  FlightRecord record;
  record.number = Whole<uint64_t>(json, "number");
  record.group = Whole<int>(json, "group");
  if (record.group < 0 || static_cast<size_t>(record.group) >= groups) {
    return absl::InvalidArgumentError("a record of a group that is not there");
  }
  record.signature.sequence = Whole<uint64_t>(json, "sequence");
  const auto kind =
      Named<OperationKind>(json.at("kind").get<std::string>(), kSignatureKinds);
  if (!kind.ok()) return kind.status();
  const auto dtype = Named<DType>(json.at("dtype").get<std::string>(), kDTypes);
  if (!dtype.ok()) return dtype.status();
  const auto op = Named<ReduceOp>(json.at("op").get<std::string>(), kReduceOps);
  if (!op.ok()) return op.status();
  record.signature.kind = *kind;
  record.signature.dtype = *dtype;
  record.signature.reduce_op = *op;
  record.signature.mixed = json.at("mixed").get<bool>();
  record.signature.root = Whole<int32_t>(json, "root");
  record.signature.count = Whole<int64_t>(json, "count");
  record.signature.counts_hash = Whole<uint64_t>(json, "counts_hash");
  if (json.contains("peers")) {
    record.peers = json.at("peers").get<std::vector<int>>();
  }
  record.bytes = Whole<int64_t>(json, "bytes");
  record.queued = json.at("queued").get<double>();
  record.started = json.at("started").get<double>();
  record.ended = json.at("ended").get<double>();
  const auto state = json.at("state").get<std::string>();
  // The 17 canonical status codes, 0 to 16.
  for (int code = 0; code <= 16; code++) {
    const auto status = static_cast<absl::StatusCode>(code);
    if (absl::StatusCodeToString(status) == state) record.status = status;
  }
  return record;
}

absl::StatusOr<FlightLog> LogOf(const Json& json) {
  if (json.value("format", "") != kFormat) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a dump of the flight recorder: its format is not \"",
                     kFormat, "\""));
  }
  FlightLog log;
  log.rank = Whole<int>(json, "rank");
  log.world_size = Whole<int>(json, "world_size");
  if (log.rank < 0 || log.rank >= log.world_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("of rank ", log.rank, " of ", log.world_size));
  }
  log.host = json.at("host").get<std::string>();
  log.pid = Whole<int64_t>(json, "pid");
  log.reason = json.at("reason").get<std::string>();
  log.request = json.at("request").get<std::string>();
  log.closed = json.at("closed").get<bool>();
  log.written = json.at("written").get<double>();
  for (const Json& group : json.at("groups")) {
    log.groups.push_back({group.at("name").get<std::string>(),
                          Whole<int>(group, "rank"), Whole<int>(group, "size"),
                          DecodeMembers(group.at("members").get<std::string>()),
                          Whole<uint64_t>(group, "birth"),
                          group.at("made").get<double>()});
  }
  for (const Json& entry : json.at("records")) {
    absl::StatusOr<FlightRecord> record = RecordOf(entry, log.groups.size());
    if (!record.ok()) return record.status();
    log.records.push_back(*std::move(record));
  }
  return log;
}

}  // namespace

std::string FlightJson(const FlightLog& log) {
  Json json;
  json["format"] = kFormat;
  json["rank"] = log.rank;
  json["world_size"] = log.world_size;
  json["host"] = log.host;
  json["pid"] = log.pid;
  json["reason"] = log.reason;
  json["request"] = log.request;
  json["closed"] = log.closed;
  json["written"] = log.written;
  json["groups"] = Json::array();
  for (const FlightGroup& group : log.groups) {
    json["groups"].push_back({{"name", group.name},
                              {"rank", group.rank},
                              {"size", group.size},
                              {"members", EncodeMembers(group.members)},
                              {"birth", group.birth},
                              {"made", group.made}});
  }
  // Invalid UTF-8 is replaced; by default the library would throw.
  const auto dumped = [](const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string text = dumped(json);
  text.pop_back();
  absl::StrAppend(&text, ",\"records\":[");
  for (size_t i = 0; i < log.records.size(); i++) {
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n",
                    dumped(RecordJson(log, log.records[i])));
  }
  return absl::StrCat(text, "\n]}\n");
}

absl::StatusOr<FlightLog> ParseFlightJson(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError("no JSON object");
  }
  // The JSON library reports missing keys and wrong types only by exceptions.
  try {
    return LogOf(json);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not a dump of the flight recorder: ", WithoutTag(error.what())));
  }
}

}  // namespace muster
