#include "trainer_sdk/flight_recorder/flight_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"
#include "trainer_sdk/flight_recorder/flight_ring.h"
#include "trainer_sdk/flight_recorder/torch_flight.h"
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
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown name '", absl::CHexEscape(name.substr(0, 64)), "'"));
}

// Reads the integer at `key`. Throws an exception if its value is outside the
// range of T.
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

// Returns the error message of the JSON library without its prefix
// "[json.exception...] ".
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
  // Find the status code with the name `state` among the canonical codes, 0 to
  // 16.
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
  // Convert to JSON text with invalid UTF-8 replaced; by default the JSON
  // library would throw an exception.
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
  // The JSON library reports missing keys and wrong types only by exceptions,
  // so catch them.
  try {
    return LogOf(json);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not a dump of the flight recorder: ", WithoutTag(error.what())));
  }
}

namespace {

constexpr size_t kMaxBytes = 64 << 20;
constexpr int kMaxRanks = 1000000;

absl::Status Bad(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

struct Contents {
  std::string bytes;
  double modified = 0;  // time of the last change, in seconds since 1970 (UTC)
  // whether a running process holds the file's lock, that is, still writes it
  bool locked = false;
};

bool IsLocked(const OwnedFd& fd) {
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  return fcntl(fd.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

absl::StatusOr<Contents> ContentsOf(const std::string& path) {
  // O_NONBLOCK, because opening a FIFO without it would block.
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.open()) return Bad(path, std::strerror(errno));
  struct stat facts = {};
  if (fstat(fd.get(), &facts) != 0) return Bad(path, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return Bad(path, "not a file");
  Contents contents;
  contents.modified = static_cast<double>(facts.st_mtim.tv_sec) +
                      static_cast<double>(facts.st_mtim.tv_nsec) / 1e9;
  contents.locked = IsLocked(fd);
  std::string& bytes = contents.bytes;
  char piece[65536];
  for (;;) {
    const ssize_t got = read(fd.get(), piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Bad(path, std::strerror(errno));
    if (got == 0) return contents;
    bytes.append(piece, static_cast<size_t>(got));
    if (bytes.size() > kMaxBytes) return Bad(path, "too large for a dump");
  }
}

// Whether the name is that of a PyTorch dump: "nccl_trace_rank_3", or any other
// prefix before "rank_3".
bool IsTorchName(const std::string& name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  return digits < name.size() &&
         absl::EndsWith(name.substr(0, digits), "rank_");
}

bool IsDump(const std::string& name) {
  return IsTorchName(name) ||
         (absl::StartsWith(name, "rank_") &&
          (absl::EndsWith(name, ".ring") || absl::EndsWith(name, ".json"))) ||
         (absl::StartsWith(name, "workers.") && absl::EndsWith(name, ".json"));
}

// Returns the directory with the latest dump below `path`; empty if there is no
// dump. `path` may be a log folder or the folder of a run.
std::string AttemptBelow(const std::string& path) {
  constexpr int kRunAndAttempt = 2;
  std::string latest;
  std::filesystem::file_time_type time;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(
           path, std::filesystem::directory_options::skip_permission_denied,
           error),
       end;
       !error && entry != end; entry.increment(error)) {
    if (entry.depth() >= kRunAndAttempt) entry.disable_recursion_pending();
    if (entry.depth() == 0 || !IsDump(entry->path().filename().string())) {
      continue;
    }
    std::error_code unknown;
    const auto written = entry->last_write_time(unknown);
    if (unknown || (!latest.empty() && written <= time)) continue;
    latest = entry->path().parent_path().string();
    time = written;
  }
  return latest;
}

// Returns the paths of flight recorder files, sorted by name. If `path` is a
// directory: the flight recorder files in it. Otherwise: `path` itself.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator entry(path, error), end;
       !error && entry != end; entry.increment(error)) {
    if (IsDump(entry->path().filename().string())) {
      files.push_back(entry->path().string());
    }
  }
  if (error) return Bad(path, error.message());
  if (files.empty()) {
    const std::string below = AttemptBelow(path);
    return Bad(
        path,
        absl::StrCat(
            "holds no rank_N.ring, rank_N.json, workers.N.json or *rank_N",
            below.empty() ? "" : absl::StrCat("; the latest are in ", below)));
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<FlightLog> TorchLog(const std::string& path,
                                   const std::string& bytes) {
  const int rank = RankInName(path);
  if (rank < 0) {
    return absl::InvalidArgumentError(
        "a dump of PyTorch, whose name must end with its rank, as in "
        "nccl_trace_rank_3");
  }
  return ParseTorchFlight(bytes, rank);
}

// Collects the contents of several files; of each rank it keeps only the latest
// log.
class Collection {
 public:
  // Adds the contents of one flight recorder file to this collection.
  // InvalidArgument: the contents are invalid; the message says why.
  absl::Status Add(const std::string& path, const Contents& contents) {
    const std::string& bytes = contents.bytes;
    if (bytes.empty()) return absl::InvalidArgumentError("is empty");
    if (AreFlightEnds(bytes)) {
      absl::StatusOr<FlightEnds> ends = ParseFlightEnds(bytes);
      if (!ends.ok()) return ends.status();
      if (absl::Status of_one = OfOneWorld(ends->world_size); !of_one.ok()) {
        return of_one;
      }
      Merge(*std::move(ends));
      return absl::OkStatus();
    }
    const bool is_of_torch = IsTorchFlight(bytes);
    absl::StatusOr<FlightLog> log =
        is_of_torch ? TorchLog(path, bytes) : ParseFlight(bytes);
    if (!log.ok()) return log.status();
    if (is_of_torch) {
      // PyTorch's dumps do not contain the world size. Their ranks give a lower
      // bound.
      at_least_ = std::max(at_least_, log->world_size);
      if (world_size_ != 0) {
        if (absl::Status of_one = OfOneWorld(world_size_); !of_one.ok()) {
          return of_one;
        }
      }
      dumped_ = std::max(dumped_.value_or(0), contents.modified);
    } else if (absl::Status of_one = OfOneWorld(log->world_size);
               !of_one.ok()) {
      return of_one;
    }
    running_ = running_ || (contents.locked && !log->closed);
    Merge(*std::move(log));
    return absl::OkStatus();
  }

  void Skip(const absl::Status& why) {
    unreadable_.emplace_back(why.message());
  }

  // Returns the combined contents of all added files. InvalidArgument: no
  // readable file was added.
  absl::StatusOr<Flight> Take() {
    const int world_size = std::max(world_size_, at_least_);
    if (world_size == 0) {
      return absl::InvalidArgumentError(
          unreadable_.empty() ? "no dumps given" : unreadable_.front());
    }
    Flight flight;
    flight.running = running_;
    flight.dumped = dumped_;
    flight.unreadable = std::move(unreadable_);
    for (auto& [rank, log] : logs_) {
      log.world_size = world_size;
      flight.logs.push_back(std::move(log));
    }
    for (auto& [rank, end] : ends_) flight.ends.push_back(std::move(end));
    return flight;
  }

 private:
  absl::Status OfOneWorld(int world_size) {
    if (world_size_ == 0) world_size_ = world_size;
    if (world_size_ == world_size && at_least_ <= world_size) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "of a world of ", world_size, ", but others are of one of ",
        world_size_ == world_size ? at_least_ : world_size_));
  }

  void Merge(FlightLog log) {
    const auto [known, is_new] = logs_.emplace(log.rank, log);
    if (is_new) return;
    FlightLog& old = known->second;
    if (log.written >= old.written) std::swap(old, log);
    // If both logs are of one process and have the same newest time, one log
    // may have been copied before the process recorded the reason for its
    // failure. Keep the reason from the log that contains one.
    if (old.pid == log.pid && old.written == log.written &&
        old.reason.empty()) {
      old.reason = log.reason;
    }
  }

  void Merge(FlightEnds all) {
    if (all.round < round_) return;
    if (all.round > round_) ends_.clear();
    round_ = all.round;
    for (FlightEnd& end : all.ends) {
      const auto [known, is_new] = ends_.emplace(end.rank, end);
      if (!is_new && end.time >= known->second.time) {
        known->second = std::move(end);
      }
    }
  }

  // world size in the files added so far; 0: no file contained it
  int world_size_ = 0;
  int at_least_ = 0;  // a lower bound of the world size, from PyTorch's dumps
  // newest round of which an end of a process is known; ends_ has only the ends
  // of this round
  int round_ = 0;
  bool running_ = false;
  // time at which the newest of PyTorch's dumps was written; seconds since 1970
  // (UTC)
  std::optional<double> dumped_;
  std::vector<std::string> unreadable_;
  std::map<int, FlightLog> logs_;
  std::map<int, FlightEnd> ends_;
};

}  // namespace

absl::StatusOr<FlightLog> ParseFlight(const std::string& bytes) {
  absl::StatusOr<FlightLog> log = absl::StartsWith(bytes, kRingMagic)
                                      ? ParseRing(bytes)
                                      : ParseFlightJson(bytes);
  if (log.ok() && log->world_size > kMaxRanks) {
    return absl::InvalidArgumentError(
        absl::StrCat("a dump of a world of ", log->world_size));
  }
  return log;
}

absl::StatusOr<Flight> ReadFlight(const std::vector<std::string>& paths) {
  Collection collection;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::vector<std::string>> files = FilesOf(path);
    if (!files.ok()) return files.status();
    for (const std::string& file : *files) {
      const absl::StatusOr<Contents> contents = ContentsOf(file);
      if (!contents.ok()) return contents.status();
      const absl::Status added = collection.Add(file, *contents);
      if (added.ok()) continue;
      const absl::Status bad = Bad(file, std::string(added.message()));
      if (!IsTorchName(file)) return bad;
      collection.Skip(bad);
    }
  }
  return collection.Take();
}

}  // namespace muster
