#include "agent/failures/round_records.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/owned_fd.h"
#include "base/write_all.h"

namespace muster::agent {
namespace {

// The number between `prefix` and `ending` in a file name, such as 12 in
// "rank_12.ring"; nullopt if there is none.
std::optional<int> NumberBetween(absl::string_view name,
                                 absl::string_view prefix,
                                 absl::string_view ending) {
  if (!absl::StartsWith(name, prefix) || !absl::EndsWith(name, ending) ||
      name.size() <= prefix.size() + ending.size()) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  name.remove_suffix(ending.size());
  int number = 0;
  if (name.front() < '0' || name.front() > '9' ||
      !absl::SimpleAtoi(name, &number)) {
    return std::nullopt;
  }
  return number;
}

bool IsOld(const std::string& name, const rendezvous::Place& place,
           int workers) {
  for (const char* ending : {".ring", ".json"}) {
    const std::optional<int> rank = NumberBetween(name, "rank_", ending);
    if (!rank) continue;
    return *rank >= place.world_size ||
           (*rank >= place.first_rank && *rank < place.first_rank + workers);
  }
  const std::optional<int> node = NumberBetween(name, "workers.", ".json");
  return node && (*node >= place.group_world_size || *node == place.group_rank);
}

}  // namespace

void RemoveOldRecords(const std::string& folder, const rendezvous::Place& place,
                      int workers) {
  std::vector<std::string> old;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    if (IsOld(entry->path().filename().string(), place, workers)) {
      old.push_back(entry->path().string());
    }
  }
  for (const std::string& path : old) unlink(path.c_str());
}

namespace {

const char* HowOf(rendezvous::FailureKind kind) {
  switch (kind) {
    case rendezvous::FailureKind::kExitCode:
      return "exited";
    case rendezvous::FailureKind::kSignal:
      return "killed";
    case rendezvous::FailureKind::kStartFailed:
      return "not started";
    case rendezvous::FailureKind::kHung:
      return "hung";
    case rendezvous::FailureKind::kStoppedByUs:
    case rendezvous::FailureKind::kNodeLost:
      return "stopped";
  }
  return "stopped";
}

absl::Status Failed(const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("how this node's workers ended cannot be kept for `launch "
                   "inspect`: ",
                   path, ": ", std::strerror(errno)));
}

}  // namespace

std::string WorkerEndsPath(const std::string& folder,
                           const rendezvous::Place& place) {
  return absl::StrCat(folder, "/workers.", place.group_rank, ".json");
}

std::string WorkerEndsJson(const rendezvous::Place& place,
                           const std::vector<rendezvous::Failure>& ends) {
  using Json = nlohmann::ordered_json;
  Json json = {{"format", "muster worker ends 1"},
               {"round", place.round},
               {"group_rank", place.group_rank},
               {"world_size", place.world_size},
               {"workers", Json::array()}};
  for (const rendezvous::Failure& end : ends) {
    json["workers"].push_back({{"rank", end.rank},
                               {"local_rank", end.local_rank},
                               {"host", end.host},
                               {"pid", end.pid},
                               {"how", HowOf(end.kind)},
                               {"exit_code", end.exit_code},
                               {"signal", end.signal},
                               {"time", end.unix_time},
                               {"message", end.message}});
  }
  // Host names and messages may contain bytes that are not UTF-8. Error handler
  // `replace`: these bytes are replaced, and dump does not throw.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::Status WriteWorkerEnds(const std::string& path, const std::string& text) {
  const std::string temporary = absl::StrCat(path, ".", getpid());
  OwnedFd file(open(temporary.c_str(),
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                    0644));
  if (!file.open()) return Failed(temporary);
  if (!WriteAll(file.get(), text) ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    const absl::Status failed = Failed(path);
    unlink(temporary.c_str());
    return failed;
  }
  return absl::OkStatus();
}

}  // namespace muster::agent
