#include "agent/round_workers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "agent/failures/describe_exit.h"
#include "agent/failures/error_file.h"
#include "agent/failures/round_records.h"
#include "agent/logs/log_plan.h"
#include "agent/logs/terminal_text.h"
#include "agent/workers/worker_environment.h"
#include "agent/workers/worker_input.h"
#include "base/environment_value.h"
#include "base/file_below.h"
#include "base/ignored_signals.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "base/unix_time.h"
#include "base/write_all.h"

namespace muster::agent {
namespace {

// If the console or the log files accept no output for longer than this time, a
// worker that seems to hang may only be waiting to write. The report of the
// suspected hang then mentions this possibility.
constexpr Duration kBriefHold = std::chrono::seconds(1);
// The longest time that the start of a round waits for the file system to
// prepare the workers' folders. Meanwhile this node sends no report to the
// coordinator, and a node without reports for a lease counts as lost. So
// kStartTimeout plus kFileTimeout must be much shorter than a lease.
constexpr Duration kStartTimeout = std::chrono::seconds(2);
// The longest time that this node waits for the file system when it reads an
// error file, or writes the record of its workers' exits.
constexpr Duration kFileTimeout = std::chrono::seconds(1);
constexpr char kErrorFile[] = "/error.json";

// Returns a pipe from which a worker can read `key` once. If `key` is empty,
// returns a descriptor that is not open. ResourceExhausted: no descriptor is
// left.
absl::StatusOr<OwnedFd> PipeWith(const std::string& key) {
  if (key.empty()) return OwnedFd();
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no pipe for the channel key: ", std::strerror(errno)));
  }
  OwnedFd read_end(ends[0]);
  const OwnedFd write_end(ends[1]);
  if (!WriteAll(write_end.get(), key)) {
    return absl::InternalError(
        absl::StrCat("writing the channel key: ", std::strerror(errno)));
  }
  return read_end;
}

constexpr char kFlightRecorderFolder[] = "MUSTER_FLIGHT_RECORDER_DIR";

}  // namespace

RoundWorkers::RoundWorkers(const AgentOptions* options, Guardian* guardian,
                           LogRelay* logs, const ProgressSockets* progress,
                           TerminalBridge* terminal,
                           std::function<void(const std::string&)> on_notice)
    : options_(options),
      guardian_(guardian),
      logs_(logs),
      progress_(progress),
      terminal_(terminal),
      inherited_(ReadEnvironment()),
      ignored_signals_(
          IgnoredByWorkers(options->preemption) | IgnoredSignals() |
          (FileSizeSignalWasIgnored() ? uint64_t{1} << (SIGXFSZ - 1)
                                      : uint64_t{0})),
      on_notice_(std::move(on_notice)) {}

void RoundWorkers::Begin(const rendezvous::Place& place) {
  place_ = place;
  PrepareFolders();
}

// Makes the workers' folders. Removes the flight records and error files that
// an earlier job with the same run id has left, because they would be taken for
// files of these workers.
void RoundWorkers::PrepareFolders() {
  has_folders_ = true;
  const std::string records = RecordsFolder();
  if (records.empty()) return;
  std::vector<std::string> folders;
  for (int local_rank = 0; local_rank < options_->node.slots; ++local_rank) {
    if (std::string folder = FolderOf(local_rank); !folder.empty()) {
      folders.push_back(std::move(folder));
    }
  }
  has_folders_ = logs_->folders().Do(
      records,
      [records, folders = std::move(folders), place = place_,
       root = options_->logs.directory, slots = options_->node.slots] {
        RemoveOldRecords(records, place, slots);
        for (const std::string& folder : folders) {
          // A folder that cannot be opened is skipped: the message about the
          // worker's log file in this folder gives the reason.
          if (!OpenFolderBelow(root, folder).ok()) continue;
          unlink(absl::StrCat(folder, kErrorFile).c_str());
        }
      },
      kStartTimeout);
  if (has_folders_ || !on_notice_) return;
  on_notice_(absl::StrCat(
      records, " has not answered for ", ToSeconds(kStartTimeout),
      " s: its file system seems to hang. The workers start without error "
      "files and flight records, and their output is written once it answers"));
}

std::vector<WorkerDown> RoundWorkers::Start(const rendezvous::Place& place,
                                            const WorkerPaths& common) {
  Begin(place);
  common_paths_ = common;
  std::vector<WorkerDown> failed;
  for (int local_rank = 0; local_rank < options_->node.slots; ++local_rank) {
    std::optional<rendezvous::Failure> failure = StartOne(local_rank);
    if (failure.has_value()) {
      failed.push_back({.local_rank = local_rank, .failure = failure});
    }
  }
  return failed;
}

void RoundWorkers::Refuse(const rendezvous::Place& place) { Begin(place); }

std::optional<rendezvous::Failure> RoundWorkers::StartOne(int local_rank) {
  const int rank = place_.first_rank + local_rank;
  absl::StatusOr<LogRelay::Pipes> pipes =
      logs_->Open({.attempt = Attempt(),
                   .local_rank = local_rank,
                   .rank = rank,
                   .prefix = LinePrefix(options_->logs.prefix_template,
                                        {.role = options_->environment.role,
                                         .host = options_->node.host,
                                         .rank = rank,
                                         .local_rank = local_rank}),
                   .alone = options_->node.slots == 1});
  if (!pipes.ok()) return NotStartable(local_rank, pipes.status().message());
  const absl::StatusOr<OwnedFd> key = PipeWith(place_.channel_key);
  if (!key.ok()) {
    close(pipes->stdout_fd);
    close(pipes->stderr_fd);
    return NotStartable(local_rank, key.status().message());
  }
  const std::string error_file = ErrorFileOf(local_rank);
  WorkerSpec spec;
  spec.local_rank = local_rank;
  spec.argv = CommandOf(local_rank);
  WorkerPaths paths = common_paths_;
  paths.error_file = error_file;
  paths.progress_socket = progress_->PathOf(local_rank);
  spec.environment = WorkerEnvironment(options_->environment, place_,
                                       local_rank, paths, inherited_);
  const std::string records = RecordsFolder();
  if (!records.empty() && inherited_.count(kFlightRecorderFolder) == 0) {
    spec.environment.emplace_back(kFlightRecorderFolder, records);
  }
  spec.unset = WithheldFromWorkers();
  if (!options_->environment.bindings.empty()) {
    const WorkerBinding& bound = options_->environment.bindings.at(local_rank);
    spec.cpus = bound.cpus;
    spec.memory_node = bound.memory_node;
  }
  spec.ignored_signals = ignored_signals_;
  spec.stdout_fd = pipes->stdout_fd;
  spec.stderr_fd = pipes->stderr_fd;
  spec.key_fd = key->get();
  GiveInput(rank, *pipes, spec);
  const absl::Status asked = guardian_->Start(spec);
  close(pipes->stdout_fd);
  close(pipes->stderr_fd);
  if (!asked.ok()) return NotStartable(local_rank, asked.message());
  return std::nullopt;
}

void RoundWorkers::GiveInput(int rank, LogRelay::Pipes& pipes,
                             WorkerSpec& spec) {
  using Stdin = TerminalBridge::Stdin;
  const bool reads = ReadsInput(options_->input, rank, spec.local_rank);
  const Stdin stdin_is = TerminalBridge::LookAtStdin();
  if (reads && stdin_is != Stdin::kOther && pipes.stdout_terminal.open()) {
    spec.stdin_fd = spec.stdout_fd;
    spec.controls_terminal = true;
    terminal_->Forward(
        OwnedFd(fcntl(pipes.stdout_terminal.get(), F_DUPFD_CLOEXEC, 3)));
  } else if (reads && stdin_is != Stdin::kBackground) {
    // The worker gets the agent's stdin, unless the agent runs in the
    // background of its terminal: keys typed there are for the shell. The
    // kernel would not keep the worker from reading these keys, because the
    // terminal is not the worker's controlling terminal.
    spec.stdin_fd = STDIN_FILENO;
  }
  terminal_->FollowSize(std::move(pipes.stdout_terminal),
                        std::move(pipes.stderr_terminal));
}

std::vector<std::string> RoundWorkers::CommandOf(int local_rank) const {
  std::vector<std::string> command = options_->argv;
  // Replaces ${local_rank} only in the arguments of the user's program.
  for (size_t i = options_->local_rank_at;
       options_->expands_local_rank && i < command.size(); ++i) {
    command[i] = absl::StrReplaceAll(
        command[i], {{"${local_rank}", absl::StrCat(local_rank)}});
  }
  if (!options_->local_rank_flag.empty()) {
    command.insert(
        command.begin() + static_cast<std::ptrdiff_t>(options_->local_rank_at),
        absl::StrCat("--", options_->local_rank_flag, "=", local_rank));
  }
  return command;
}

absl::StatusOr<ErrorFile> RoundWorkers::ReadInTime(
    const std::string& path) const {
  const auto file = std::make_shared<absl::StatusOr<ErrorFile>>();
  const bool done = logs_->folders().Do(
      path, [path, file] { *file = ReadErrorFile(path); }, kFileTimeout);
  if (done) return *file;
  return absl::DeadlineExceededError(
      absl::StrCat("the error file ", path,
                   " cannot be read: its file system does not answer"));
}

WorkerDown RoundWorkers::Ended(const WorkerEnded& event,
                               const std::string& expired_timer) const {
  WorkerRemains remains;
  remains.expired_timer = expired_timer;
  const bool failed =
      !WIFEXITED(event.wait_status) || WEXITSTATUS(event.wait_status) != 0;
  if (failed) {
    remains.stderr_tail = logs_->StderrTail(event.local_rank);
    remains.error_file_path = ErrorFileOf(event.local_rank);
    if (!remains.error_file_path.empty()) {
      remains.error_file = ReadInTime(remains.error_file_path);
    }
  }
  rendezvous::Failure place = NewFailure(event.local_rank);
  const double now = place.unix_time;
  WorkerDown down = {.local_rank = event.local_rank,
                     .failure = DescribeEnd(std::move(place), event, remains),
                     .by_itself = !event.signalled};
  if (remains.error_file.ok() && remains.error_file->unix_time > 0 &&
      remains.error_file->unix_time <= now) {
    down.recorded_ago = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(now - remains.error_file->unix_time));
  }
  return down;
}

WorkerDown RoundWorkers::NotStarted(const WorkerNotStarted& event) const {
  return {.local_rank = event.local_rank,
          .failure = DescribeNotStarted(NewFailure(event.local_rank), event)};
}

rendezvous::Failure RoundWorkers::NotStartable(int local_rank,
                                               absl::string_view why) const {
  rendezvous::Failure failure = NewFailure(local_rank);
  failure.kind = rendezvous::FailureKind::kStartFailed;
  failure.exit_code = 126;
  failure.message = std::string(why);
  return failure;
}

StackTaken RoundWorkers::Hanging(int round, int local_rank,
                                 std::vector<std::string> stack) const {
  const LogRelay::HeldUp held_up = logs_->HeldUpFor(local_rank);
  if (held_up.time > kBriefHold) {
    const bool by_files = held_up.by == LogRelay::HeldUp::By::kFiles;
    stack.insert(
        stack.begin(),
        absl::StrCat("its output has waited for the ",
                     by_files ? "log files" : "console", " for ",
                     static_cast<int>(ToSeconds(held_up.time)), " s: ",
                     by_files ? "their file system is slow"
                              : "what reads this program's output has stopped "
                                "reading",
                     ", and a worker that prints waits for it"));
  }
  return {.round = round,
          .local_rank = local_rank,
          .stack = std::move(stack),
          .stderr_tail = BoundedLastLines(logs_->StderrTail(local_rank),
                                          rendezvous::kMaxStderrLines,
                                          rendezvous::kMaxLineBytes),
          .unix_time = UnixSeconds()};
}

rendezvous::Failure RoundWorkers::NewFailure(int local_rank) const {
  rendezvous::Failure failure;
  failure.host = options_->node.host;
  failure.node_id = options_->node.node_id;
  failure.group_rank = place_.group_rank;
  failure.local_rank = local_rank;
  failure.rank = place_.first_rank + local_rank;
  failure.unix_time = UnixSeconds();
  return failure;
}

// The attempt number in the path of the workers' log folder. It comes from the
// round, so that each round has its own folder. The number of restarts would
// not suffice: a change of members also begins a new round.
int RoundWorkers::Attempt() const { return place_.round - 1; }

absl::Status RoundWorkers::Keep(
    const std::vector<rendezvous::Failure>& ends) const {
  const std::string records = RecordsFolder();
  if (records.empty()) return absl::OkStatus();
  const auto written = std::make_shared<absl::Status>();
  const std::string path = WorkerEndsPath(records, place_);
  const bool done = logs_->folders().Do(
      path,
      [records, path, text = WorkerEndsJson(place_, ends), written] {
        // If the folder of the flight records (the last operations of each
        // rank) does not exist, no worker keeps such records. The workers'
        // exits are then not written either.
        if (access(records.c_str(), F_OK) != 0) return;
        *written = WriteWorkerEnds(path, text);
      },
      kFileTimeout);
  if (done) return *written;
  return absl::DeadlineExceededError(absl::StrCat(
      "how this node's workers ended cannot be kept for `launch inspect`: ",
      path, ": its file system does not answer"));
}

// The folder of the round's flight records, which `launch inspect` reads. The
// SDK records each rank's last operations in this folder, so that they are
// known even if the process is killed.
std::string RoundWorkers::RecordsFolder() const {
  const auto inherited = EnvironmentValue(inherited_, kFlightRecorderFolder);
  if (inherited) return *inherited;
  const std::string folder = FolderOf(/*local_rank=*/0);
  return folder.empty() ? "" : folder.substr(0, folder.rfind('/'));
}

std::string RoundWorkers::FolderOf(int local_rank) const {
  if (!has_folders_) return "";
  return logs_->DirectoryOf(Attempt(), place_.first_rank + local_rank);
}

std::string RoundWorkers::ErrorFileOf(int local_rank) const {
  const std::string directory = FolderOf(local_rank);
  return directory.empty() ? "" : directory + kErrorFile;
}

}  // namespace muster::agent
