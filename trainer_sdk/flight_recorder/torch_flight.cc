#include "trainer_sdk/flight_recorder/torch_flight.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "trainer_sdk/flight_recorder/pickle_value.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

using Json = nlohmann::json;

constexpr int kMaxRanks = 1000000;

// Parses a list of ranks, which PyTorch writes as text: "[0, 1, 2]".
std::optional<std::vector<int>> RanksOf(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) {
    return std::nullopt;
  }
  std::vector<int> ranks;
  for (const absl::string_view number :
       absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    int rank = 0;
    if (!absl::SimpleAtoi(number, &rank) || rank < 0 || rank >= kMaxRanks) {
      return std::nullopt;
    }
    ranks.push_back(rank);
  }
  return ranks;
}

// Returns the kind of the operation to which PyTorch gives the name `name`,
// such as "nccl:all_reduce", "nccl:_all_gather_base" or "nccl:send 0->1".
std::optional<OperationKind> KindOf(const std::string& name) {
  // A name may contain several of these words. The one that comes first in this
  // list decides: "all_reduce_barrier" is a barrier, "reduce_scatter" is not a
  // reduce.
  static constexpr std::pair<const char*, OperationKind> kWords[] = {
      {"barrier", OperationKind::kBarrier},
      {"all_reduce", OperationKind::kAllReduce},
      {"allreduce", OperationKind::kAllReduce},
      {"reduce_scatter", OperationKind::kReduceScatter},
      {"all_gather", OperationKind::kAllGather},
      {"allgather", OperationKind::kAllGather},
      {"all_to_all", OperationKind::kAllToAll},
      {"alltoall", OperationKind::kAllToAll},
      {"broadcast", OperationKind::kBroadcast},
      {"reduce", OperationKind::kReduce},
      {"gather", OperationKind::kGather},
      {"scatter", OperationKind::kScatter},
      {"send", OperationKind::kSend},
      {"recv", OperationKind::kReceive},
      {"coalesced", OperationKind::kBatch},
  };
  const std::string lower = absl::AsciiStrToLower(name);
  for (const auto& [word, kind] : kWords) {
    if (absl::StrContains(lower, word)) return kind;
  }
  return std::nullopt;
}

// An element type of PyTorch.
struct TorchType {
  // Muster's type for this type of PyTorch. If Muster has no such type: another
  // type of the same size, or of half the size if elements have 16 bytes.
  DType dtype = DType::kInt8;
  int64_t bytes = 1;  // size of an element in bytes
};

// Returns the type that PyTorch calls `name` (c10::toString). A type that is
// not listed has one byte, as Char, Byte, Bool and the Float8 types have.
TorchType TypeOf(const std::string& name) {
  static const auto* const types = new std::map<std::string, TorchType>{
      {"Float", {DType::kFloat32, 4}},
      {"Double", {DType::kFloat64, 8}},
      {"BFloat16", {DType::kBFloat16, 2}},
      {"Half", {DType::kFloat16, 2}},
      {"Short", {DType::kFloat16, 2}},
      {"UInt16", {DType::kFloat16, 2}},
      {"Int", {DType::kInt32, 4}},
      {"UInt32", {DType::kInt32, 4}},
      {"ComplexHalf", {DType::kInt32, 4}},
      {"Long", {DType::kInt64, 8}},
      {"UInt64", {DType::kInt64, 8}},
      {"ComplexFloat", {DType::kInt64, 8}},
      {"ComplexDouble", {DType::kFloat64, 16}},
  };
  const auto found = types->find(name);
  return found == types->end() ? TorchType() : found->second;
}

// The total number of elements of several tensors; 1e17 if there are more.
// `sizes` has the dimensions of each tensor.
int64_t CountOf(const Json& sizes) {
  constexpr double kMost = 1e17;
  double count = 0;
  for (const Json& tensor : sizes) {
    double elements = 1;
    for (const Json& size : tensor) {
      elements = std::min(elements * std::max(0.0, size.get<double>()), kMost);
    }
    count = std::min(count + elements, kMost);
  }
  return static_cast<int64_t>(count);
}

// The time at `key`, converted from nanoseconds to seconds; 0 if the dump does
// not have this time.
double SecondsAt(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found == entry.end() || !found->is_number()
             ? 0
             : found->get<double>() / 1e9;
}

// The number at `key`. Throws an exception if it is negative or above 2^48.
uint64_t CountAt(const Json& entry, const char* key) {
  constexpr int64_t kMost = int64_t{1} << 48;
  const auto number = entry.at(key).get<int64_t>();
  if (number < 0 || number > kMost) {
    throw std::out_of_range(absl::StrCat("'", key, "' is no count"));
  }
  return static_cast<uint64_t>(number);
}

// The peer's rank in the group, taken from the name of a send or receive: 1 for
// both "nccl:send 0->1" and "nccl:recv 0<-1".
int PeerOf(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789");
  int peer = 0;
  return absl::SimpleAtoi(name.substr(end + 1), &peer) ? peer : 0;
}

class Reader {
 public:
  Reader(const Json& dump, int rank) : dump_(dump) {
    log_.rank = rank;
    log_.world_size = rank + 1;
  }

  // Converts the dump to a log. Throws a Json exception if a key is missing or
  // a value has the wrong type.
  absl::StatusOr<FlightLog> Read() {
    if (!absl::StartsWith(dump_.at("version").get<std::string>(), "2.")) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a dump of PyTorch's flight recorder in version ",
          absl::CHexEscape(dump_.at("version").dump()), "; known are 2.x"));
    }
    absl::Status status = ReadMembers();
    for (const Json& entry : dump_.at("entries")) {
      if (!status.ok()) return status;
      status = ReadEntry(entry);
    }
    if (!status.ok()) return status;
    std::stable_sort(log_.records.begin(), log_.records.end(),
                     [](const FlightRecord& a, const FlightRecord& b) {
                       return a.number < b.number;
                     });
    return std::move(log_);
  }

 private:
  absl::Status ReadMembers() {
    for (const auto& [name, group] : dump_.at("pg_config").items()) {
      const auto ranks = RanksOf(group.at("ranks").get<std::string>());
      if (!ranks) {
        return absl::InvalidArgumentError(
            absl::StrCat("the process group \"", absl::CHexEscape(name),
                         "\" has no list of ranks"));
      }
      for (const int rank : *ranks) {
        log_.world_size = std::max(log_.world_size, rank + 1);
      }
      members_[name] = *ranks;
    }
    return absl::OkStatus();
  }

  absl::Status ReadEntry(const Json& entry) {
    const std::string name = entry.at("profiling_name").get<std::string>();
    const std::optional<OperationKind> kind = KindOf(name);
    if (!kind) {
      return absl::InvalidArgumentError(
          absl::StrCat("an unknown operation, \"",
                       absl::CHexEscape(name.substr(0, 64)), "\""));
    }
    FlightRecord record;
    record.number = CountAt(entry, "record_id") + 1;
    record.group = GroupOf(entry.at("process_group"));
    record.signature.kind = *kind;
    record.signature.is_partial = true;
    record.signature.sequence = CountAt(entry, "collective_seq_id");
    if (IsPointToPoint(*kind)) record.signature.root = PeerOf(name);
    const Json& inputs = entry.at("input_sizes");
    // For a scatter, take the size from the output, which is one part on every
    // rank. Only the root has inputs: the parts of all ranks.
    const bool has_inputs = !inputs.empty() && *kind != OperationKind::kScatter;
    record.signature.count =
        CountOf(has_inputs ? inputs : entry.at("output_sizes"));
    const Json& types = entry.at(has_inputs ? "input_dtypes" : "output_dtypes");
    TorchType type;
    if (!types.empty()) type = TypeOf(types.front().get<std::string>());
    // Count an element of 16 bytes as two of 8 bytes, because no type of Muster
    // has 16 bytes.
    const int64_t parts = type.bytes / SizeOf(type.dtype);
    record.signature.dtype = type.dtype;
    record.signature.count *= parts;
    if (*kind == OperationKind::kBarrier) {
      record.signature.count = 0;
      record.signature.dtype = DType::kFloat32;
    }
    record.bytes = record.signature.count * SizeOf(record.signature.dtype);
    record.queued = SecondsAt(entry, "time_created_ns");
    // PyTorch's watchdog records the start and the end of an operation only
    // when it polls. Dumps of Gloo never contain these times. Without a start,
    // the time of the call is used, because the analysis only needs to know
    // whether the rank has called the operation.
    record.started = SecondsAt(entry, "time_discovered_started_ns");
    if (record.started == 0) record.started = record.queued;
    record.ended = SecondsAt(entry, "time_discovered_completed_ns");
    const bool has_ended =
        entry.at("state") == "completed" || entry.value("retired", false);
    if (has_ended && record.ended == 0) record.ended = record.started;
    log_.written =
        std::max({log_.written, record.queued, record.started, record.ended});
    log_.records.push_back(std::move(record));
    return absl::OkStatus();
  }

  // The index of a process group in log_.groups. `pair` has the group's name,
  // which is a number as text, and the group's description.
  int GroupOf(const Json& pair) {
    const std::string name = pair.at(0).get<std::string>();
    const auto [found, is_new] =
        indices_.emplace(name, static_cast<int>(log_.groups.size()));
    if (!is_new) return found->second;
    const std::string description = pair.at(1).get<std::string>();
    FlightGroup group;
    group.name = description == "default_pg" ? description
                 : description.empty() || description == "undefined"
                     ? name
                     : absl::StrCat(description, " (", name, ")");
    const auto members = members_.find(name);
    if (members != members_.end()) group.members = members->second;
    // If the dump does not list the group's members, this rank's place in the
    // group is unknown: use its world rank. The analysis then takes the ranks
    // that have a log as the group's members.
    const auto place =
        std::find(group.members.begin(), group.members.end(), log_.rank);
    group.rank = place == group.members.end()
                     ? log_.rank
                     : static_cast<int>(place - group.members.begin());
    group.size = static_cast<int>(group.members.size());
    log_.groups.push_back(std::move(group));
    return found->second;
  }

  const Json& dump_;
  FlightLog log_;
  std::map<std::string, std::vector<int>> members_;
  // Key: a process group's name in the dump; value: its index in log_.groups.
  std::map<std::string, int> indices_;
};

}  // namespace

bool IsTorchFlight(absl::string_view bytes) {
  constexpr char kPickleProtocol = '\x80';
  return !bytes.empty() && bytes[0] == kPickleProtocol;
}

absl::StatusOr<FlightLog> ParseTorchFlight(const std::string& bytes, int rank) {
  const absl::StatusOr<Json> dump = ParsePickle(bytes);
  if (!dump.ok()) return dump.status();
  // The JSON library reports missing keys and wrong types only by exceptions,
  // so catch them.
  try {
    return Reader(*dump, rank).Read();
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a pickle, but no dump of PyTorch's flight recorder: ",
        absl::CHexEscape(std::string(error.what()).substr(0, 200))));
  }
}

int RankInName(absl::string_view path) {
  const size_t end = path.find_last_not_of("0123456789");
  const absl::string_view digits =
      end == absl::string_view::npos ? path : path.substr(end + 1);
  int rank = 0;
  return absl::SimpleAtoi(digits, &rank) && rank < kMaxRanks ? rank : -1;
}

}  // namespace muster
