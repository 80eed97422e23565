#include "trainer_sdk/flight_recorder/flight_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"
#include "trainer_sdk/flight_recorder/flight_json.h"
#include "trainer_sdk/flight_recorder/flight_ring.h"

namespace muster {
namespace {

constexpr size_t kMostBytes = 64 << 20;
constexpr int kMostRanks = 1000000;

absl::Status Bad(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

struct Contents {
  std::string bytes;
  bool locked = false;  // by the process that writes it
};

bool IsLocked(const OwnedFd& fd) {
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  return fcntl(fd.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

absl::StatusOr<Contents> ContentsOf(const std::string& path) {
  // O_NONBLOCK, because opening a named pipe would block.
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.open()) return Bad(path, std::strerror(errno));
  struct stat facts = {};
  if (fstat(fd.get(), &facts) != 0) return Bad(path, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return Bad(path, "not a file");
  Contents contents;
  contents.locked = IsLocked(fd);
  std::string& bytes = contents.bytes;
  char piece[65536];
  for (;;) {
    const ssize_t got = read(fd.get(), piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Bad(path, std::strerror(errno));
    if (got == 0) return contents;
    bytes.append(piece, static_cast<size_t>(got));
    if (bytes.size() > kMostBytes) return Bad(path, "too large for a dump");
  }
}

bool IsDump(const std::string& name) {
  return (absl::StartsWith(name, "rank_") &&
          (absl::EndsWith(name, ".ring") || absl::EndsWith(name, ".json"))) ||
         (absl::StartsWith(name, "workers.") && absl::EndsWith(name, ".json"));
}

// Among the attempts' directories below `path` (a log folder or the folder of a
// run), the one with the latest dump; empty if there is none.
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

// The files that `path` stands for, sorted by name.
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
            "holds no rank_N.ring, rank_N.json or workers.N.json",
            below.empty() ? "" : absl::StrCat("; the latest are in ", below)));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The files read so far.
class Collection {
 public:
  // Adds one file. InvalidArgument: says what is wrong with it.
  absl::Status Add(const Contents& contents) {
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
    absl::StatusOr<FlightLog> log = ParseFlight(bytes);
    if (!log.ok()) return log.status();
    if (absl::Status of_one = OfOneWorld(log->world_size); !of_one.ok()) {
      return of_one;
    }
    running_ = running_ || (contents.locked && !log->closed);
    Merge(*std::move(log));
    return absl::OkStatus();
  }

  // InvalidArgument: no file was added.
  absl::StatusOr<Flight> Take() {
    if (world_size_ == 0) return absl::InvalidArgumentError("no dumps given");
    Flight flight;
    flight.running = running_;
    for (auto& [rank, log] : logs_) flight.logs.push_back(std::move(log));
    for (auto& [rank, end] : ends_) flight.ends.push_back(std::move(end));
    return flight;
  }

 private:
  absl::Status OfOneWorld(int world_size) {
    if (world_size_ == 0) world_size_ = world_size;
    if (world_size_ == world_size) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("of a world of ", world_size,
                     ", but others are of one of ", world_size_));
  }

  void Merge(FlightLog log) {
    const auto [known, is_new] = logs_.emplace(log.rank, log);
    if (is_new) return;
    FlightLog& old = known->second;
    if (log.written >= old.written) std::swap(old, log);
    // The ring was copied before its process failed.
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

  int world_size_ = 0;  // 0: no file yet
  int round_ = 0;       // the round of ends_
  bool running_ = false;
  std::map<int, FlightLog> logs_;
  std::map<int, FlightEnd> ends_;
};

}  // namespace

absl::StatusOr<FlightLog> ParseFlight(const std::string& bytes) {
  absl::StatusOr<FlightLog> log = absl::StartsWith(bytes, kRingMagic)
                                      ? ParseRing(bytes)
                                      : ParseFlightJson(bytes);
  if (log.ok() && log->world_size > kMostRanks) {
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
      const absl::Status added = collection.Add(*contents);
      if (!added.ok()) return Bad(file, std::string(added.message()));
    }
  }
  return collection.Take();
}

}  // namespace muster
