#include "launcher/run_report/run_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/failures/error_file.h"
#include "agent/logs/log_paths.h"
#include "base/file_below.h"
#include "base/message_text.h"
#include "base/owned_fd.h"
#include "launcher/inspect_text.h"
#include "launcher/report/text_layout.h"
#include "launcher/run_report/recorded_event.h"
#include "launcher/run_report/report_record.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/journal/journal_file.h"
#include "rendezvous/journal/record_store.h"
#include "rendezvous/wire/memory_wire.h"
#include "trainer_sdk/flight_recorder/flight_analysis.h"
#include "trainer_sdk/flight_recorder/flight_files.h"

namespace muster::launcher {
namespace {

constexpr char kEventLog[] = "events.jsonl";
constexpr char kAttempt[] = "attempt_";
constexpr size_t kEndBytes = 256 << 10;
// kMaxEventBytes, kMaxEvents: maximum total size and maximum number of the
// events that are kept. Older events are dropped.
constexpr size_t kMaxEventBytes = 128 << 20;
constexpr size_t kMaxEvents = 200'000;
constexpr size_t kMaxFolderEntries = 100'000;
constexpr size_t kMaxSources = 100;
constexpr size_t kMaxMissing = 20;
constexpr size_t kMaxNamedRuns = 10;
constexpr int kMaxRotated = 3;
// kMaxFlights: number of rounds (the newest ones) whose flight records are
// read. kMaxFlightFiles: maximum number of record files of one round that are
// read.
constexpr size_t kMaxFlights = 2;
constexpr size_t kMaxFlightFiles = 512;

bool Exists(const std::string& path, mode_t kind) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && (facts.st_mode & S_IFMT) == kind;
}

// The sorted names of the entries of a folder; empty: the folder cannot be
// read.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()),
                                                 &closedir);
  if (open == nullptr) return names;
  while (const dirent* const entry = readdir(open.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    if (names.size() == kMaxFolderEntries) break;
  }
  std::ranges::sort(names);
  return names;
}

bool IsRunFolder(const std::string& folder) {
  if (Exists(folder + "/" + kEventLog, S_IFREG)) return true;
  return std::ranges::any_of(NamesIn(folder), [](const std::string& name) {
    return absl::StartsWith(name, kAttempt);
  });
}

double ModifiedAt(const std::string& path) {
  struct stat facts;
  if (stat(path.c_str(), &facts) != 0) return 0;
  return static_cast<double>(facts.st_mtim.tv_sec) +
         static_cast<double>(facts.st_mtim.tv_nsec) * 1e-9;
}

// A regular file, opened for reading.
struct OpenFile {
  OwnedFd fd;
  int64_t size = 0;
};

absl::StatusOr<OpenFile> CheckOpened(OwnedFd fd) {
  struct stat facts;
  if (fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError("it is no regular file");
  }
  return OpenFile{.fd = std::move(fd), .size = facts.st_size};
}

constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// Opens a file that a person has named.
absl::StatusOr<OpenFile> OpenNamed(const std::string& path) {
  OwnedFd fd(open(path.c_str(), kOpenFlags));
  if (fd.get() < 0) return absl::NotFoundError(std::strerror(errno));
  return CheckOpened(std::move(fd));
}

// Opens a file below a folder that a person has named.
absl::StatusOr<OpenFile> OpenBelow(const std::string& root,
                                   const std::string& path) {
  // Return early if the file does not exist, because OpenFileBelow would create
  // its missing folders.
  if (access(path.c_str(), F_OK) != 0) {
    return absl::NotFoundError("there is no such file");
  }
  absl::StatusOr<OwnedFd> fd = OpenFileBelow(root, path, kOpenFlags, 0);
  if (!fd.ok()) return fd.status();
  return CheckOpened(*std::move(fd));
}

// Reads up to `count` bytes at `offset`. Returns fewer bytes at the end of the
// file or after an error.
std::string ReadAt(int fd, int64_t offset, size_t count) {
  std::string bytes(count, '\0');
  size_t had = 0;
  while (had < count) {
    const ssize_t got = pread(fd, bytes.data() + had, count - had,
                              offset + static_cast<int64_t>(had));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    had += static_cast<size_t>(got);
  }
  bytes.resize(had);
  return bytes;
}

// Facts about a file's lines: the number of lines that were too long, and
// whether the last line lacks a newline.
struct LineFacts {
  int64_t too_long = 0;
  bool is_last_torn = false;  // whether the last line has no newline
};

// Calls `take` with each line of a file, except lines longer than
// kMaxEventLineBytes.
LineFacts ReadLines(int fd, const std::function<void(std::string_view)>& take) {
  constexpr size_t kChunk = 256 << 10;
  LineFacts facts;
  std::string line;
  bool is_skipping = false;
  for (int64_t offset = 0;;) {
    const std::string chunk = ReadAt(fd, offset, kChunk);
    if (chunk.empty()) break;
    offset += static_cast<int64_t>(chunk.size());
    std::string_view rest = chunk;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      if (!is_skipping) line += rest.substr(0, end);
      if (line.size() > kMaxEventLineBytes) {
        is_skipping = true;
        line.clear();
      }
      if (end == std::string_view::npos) break;
      if (is_skipping) {
        ++facts.too_long;
      } else {
        take(line);
      }
      is_skipping = false;
      line.clear();
      rest.remove_prefix(end + 1);
    }
  }
  facts.is_last_torn = is_skipping || !line.empty();
  if (!line.empty()) take(line);
  return facts;
}

// A folder with files of the run.
struct Folder {
  std::string root;  // the folder that the user has named
  std::string path;  // `root` or a folder in it
};

class RunReader {
 public:
  explicit RunReader(const RunQuery& query) : query_(query) {}

  absl::StatusOr<RunReport> Read();

 private:
  // Finds the logs and the journal. Returns OK if a report can be made from
  // what was found, otherwise the error to show to the user.
  absl::Status Find();
  absl::Status FindFolders();
  absl::Status FindInLogDir(const std::string& log_dir);
  absl::Status FindEvents();
  // Finds the run in the journal of RunQuery::state_dir.
  absl::Status FindRecord();
  // Whether one of the log folders belongs to the run of the record `job`.
  bool HasFolder(const rendezvous::JobRecord& job) const;
  // Reads one event log. `root`: the folder that the user has named and that
  // contains the log. Empty: the user has named the log itself.
  void ReadLog(const std::string& root, const std::string& path);
  void ReadLogs(const std::string& root, const std::string& path);
  void Keep(RecordedEvent event, size_t bytes);
  void AddSource(const std::string& path, std::string what);
  void AddMissing(std::string sentence);
  void ReadOutputs(std::vector<WantedOutput> wanted);
  void ReadStream(const Folder& folder, const std::string& path,
                  ReportOutput& output);
  void ReadErrors(const Folder& folder, const std::string& path,
                  ReportOutput& output);
  void ReadFlights();
  void FindMissingNodes();
  std::vector<WantedOutput> WantedWithoutEvents() const;

  const RunQuery& query_;
  // id of the run to report; empty: the event logs' only run
  std::string run_id_;
  std::vector<Folder> folders_;
  std::vector<std::string> logs_;  // event logs that the user has named
  struct KeptEvent {
    RecordedEvent event;
    size_t bytes = 0;
  };
  std::deque<KeptEvent> events_;
  size_t event_bytes_ = 0;
  int64_t dropped_ = 0;
  std::set<std::string> run_ids_;
  std::optional<rendezvous::KeptJob> kept_;  // the run's record in the journal
  // the faults of machines, from the journal that has the run's record
  rendezvous::NodeMemory::Kept machines_;
  RunReport report_;
  int64_t sources_left_out_ = 0;
  int64_t missing_left_out_ = 0;
};

void RunReader::AddSource(const std::string& path, std::string what) {
  if (report_.sources.size() >= kMaxSources) {
    ++sources_left_out_;
    return;
  }
  report_.sources.push_back({.path = path, .what = std::move(what)});
}

void RunReader::AddMissing(std::string sentence) {
  if (report_.missing.size() >= kMaxMissing) {
    ++missing_left_out_;
    return;
  }
  report_.missing.push_back(std::move(sentence));
}

// Whether `name` is the name of a log folder of the run `run_id`
// (agent::RunFolder): RUN_ID_TAG, or RUN_ID alone. Coordinators of older
// versions of Muster draw no run tag.
bool IsFolderOf(const std::string& run_id, const std::string& name) {
  const auto folder_of = [](const std::string& run) {
    return agent::RunFolder("", run).substr(1);
  };
  const size_t before_tag = name.rfind('_');
  const std::string tag =
      before_tag == std::string::npos
          ? ""
          : name.substr(before_tag + 1,
                        name.find('-', before_tag) - (before_tag + 1));
  return name == folder_of(run_id) ||
         (!tag.empty() && name == folder_of(agent::TaggedRunName(run_id, tag)));
}

absl::Status RunReader::FindInLogDir(const std::string& log_dir) {
  if (run_id_.empty()) {
    const std::string latest = agent::LatestLink(log_dir);
    if (Exists(latest, S_IFDIR)) {
      folders_.push_back({.root = log_dir, .path = latest});
      return absl::OkStatus();
    }
  }
  std::string newest;
  double newest_at = -1;
  int64_t others = 0;
  std::vector<std::string> names;
  for (const std::string& name : NamesIn(log_dir)) {
    const std::string path = absl::StrCat(log_dir, "/", name);
    if (name == "latest" || !IsRunFolder(path)) continue;
    names.push_back(name);
    if (!run_id_.empty() && name != run_id_ && !IsFolderOf(run_id_, name)) {
      continue;
    }
    const double at =
        std::max(ModifiedAt(path), ModifiedAt(path + "/" + kEventLog));
    if (!newest.empty()) ++others;
    if (at > newest_at) {
      newest = path;
      newest_at = at;
    }
  }
  if (!newest.empty()) {
    folders_.push_back({.root = log_dir, .path = newest});
    if (others > 0) {
      AddSource(log_dir,
                absl::StrCat("the newest of ", others + 1,
                             " folders is reported; name another by its path"));
    }
    return absl::OkStatus();
  }
  if (names.size() > kMaxNamedRuns) names.resize(kMaxNamedRuns);
  return absl::NotFoundError(absl::StrCat(
      log_dir, " has no folder of ",
      run_id_.empty() ? "a run" : absl::StrCat("a run \"", run_id_, "\""),
      names.empty() ? "" : "; it has ", absl::StrJoin(names, ", ")));
}

absl::Status RunReader::FindFolders() {
  std::vector<std::string> log_dirs;
  if (!query_.log_dir.empty()) log_dirs.push_back(query_.log_dir);
  for (const std::string& named : query_.named) {
    if (named.empty()) {
      return absl::InvalidArgumentError("the name of the run is empty");
    }
    if (Exists(named, S_IFREG)) {
      logs_.push_back(named);
    } else if (Exists(named, S_IFDIR)) {
      if (IsRunFolder(named)) {
        folders_.push_back({.root = named, .path = named});
      } else {
        log_dirs.push_back(named);
      }
    } else if (access(named.c_str(), F_OK) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(named, " is neither a folder nor a regular file"));
    } else if (run_id_.empty()) {
      run_id_ = named;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", run_id_, "\" and \"", named,
                       "\" are neither files nor folders; one run id at most"));
    }
  }
  logs_.insert(logs_.end(), query_.event_logs.begin(), query_.event_logs.end());
  const bool has_journal = !query_.state_dir.empty();
  if (!run_id_.empty() && log_dirs.empty() && logs_.empty() &&
      folders_.empty() && !has_journal) {
    return absl::NotFoundError(
        absl::StrCat("there is no file or folder ", run_id_,
                     "; if it is a run id, give --log-dir, --event-log or "
                     "--state-dir"));
  }
  for (const std::string& log_dir : log_dirs) {
    const absl::Status found = FindInLogDir(log_dir);
    // A missing log folder is an error only if the user named nothing else of
    // the run, such as its event log.
    if (!found.ok() && logs_.empty() && folders_.empty()) return found;
    if (!found.ok()) AddMissing(std::string(found.message()));
  }
  if (folders_.empty() && logs_.empty() && !has_journal) {
    return absl::InvalidArgumentError(
        "name a run's log folder, such as logs/latest, an event log or "
        "--state-dir");
  }
  return absl::OkStatus();
}

void RunReader::Keep(RecordedEvent event, size_t bytes) {
  event_bytes_ += bytes;
  events_.push_back({.event = std::move(event), .bytes = bytes});
  while (event_bytes_ > kMaxEventBytes || events_.size() > kMaxEvents) {
    event_bytes_ -= events_.front().bytes;
    events_.pop_front();
    ++dropped_;
  }
}

void RunReader::ReadLog(const std::string& root, const std::string& path) {
  const absl::StatusOr<OpenFile> file =
      root.empty() ? OpenNamed(path) : OpenBelow(root, path);
  if (!file.ok()) {
    AddSource(path, absl::StrCat("not read: ", file.status().message()));
    return;
  }
  int64_t taken = 0, others = 0, unreadable = 0;
  bool is_last_readable = true;
  const LineFacts facts = ReadLines(file->fd.get(), [&](std::string_view line) {
    // Skip an empty line: it stands for lines that could not be written
    // (RotatingFile::GapNote).
    if (line.empty()) return;
    std::optional<RecordedEvent> event = ParseEvent(line);
    is_last_readable = event.has_value();
    if (!event.has_value()) {
      ++unreadable;
      return;
    }
    // Skip a line that only counts omitted decisions: it has no run id, because
    // it belongs to no single job.
    if (event->run_id.empty()) return;
    if (run_ids_.size() < 1000) run_ids_.insert(event->run_id);
    if (!run_id_.empty() && event->run_id != run_id_) {
      ++others;
      return;
    }
    ++taken;
    Keep(*std::move(event), line.size());
  });
  std::string what = Counted(taken, "event");
  const bool is_torn = facts.is_last_torn && !is_last_readable;
  if (is_torn) {
    --unreadable;
    absl::StrAppend(&what, "; the last line is cut off");
  }
  if (unreadable > 0) {
    absl::StrAppend(&what, "; ", Counted(unreadable, "line"), " not readable");
  }
  if (facts.too_long > 0) {
    absl::StrAppend(&what, "; ", Counted(facts.too_long, "line"), " too long");
  }
  if (others > 0) {
    absl::StrAppend(&what, "; ", Counted(others, "event"), " of other runs");
  }
  AddSource(path, what);
}

void RunReader::ReadLogs(const std::string& root, const std::string& path) {
  for (int i = kMaxRotated; i > 0; --i) {
    const std::string rotated = absl::StrCat(path, ".", i);
    if (Exists(rotated, S_IFREG)) ReadLog(root, rotated);
  }
  ReadLog(root, path);
}

absl::Status RunReader::FindEvents() {
  for (const Folder& folder : folders_) {
    const std::string path = absl::StrCat(folder.path, "/", kEventLog);
    if (Exists(path, S_IFREG)) ReadLogs(folder.root, path);
  }
  for (const std::string& path : logs_) ReadLogs("", path);
  if (run_id_.empty() && run_ids_.size() > 1) {
    std::vector<std::string> names(run_ids_.begin(), run_ids_.end());
    const size_t more =
        names.size() > kMaxNamedRuns ? names.size() - kMaxNamedRuns : 0;
    if (more > 0) names.resize(kMaxNamedRuns);
    return absl::InvalidArgumentError(
        absl::StrCat("the event log has several runs; name one of them: ",
                     PrintableLine(absl::StrJoin(names, ", ")),
                     more > 0 ? absl::StrCat(" and ", more, " more") : ""));
  }
  if (events_.empty() && folders_.empty() && !logs_.empty()) {
    std::vector<std::string> names(run_ids_.begin(), run_ids_.end());
    if (names.size() > kMaxNamedRuns) names.resize(kMaxNamedRuns);
    return absl::NotFoundError(absl::StrCat(
        "the event log has no events",
        run_id_.empty() ? "" : absl::StrCat(" of \"", run_id_, "\""),
        names.empty() ? "" : "; it has runs ",
        PrintableLine(absl::StrJoin(names, ", "))));
  }
  return absl::OkStatus();
}

bool RunReader::HasFolder(const rendezvous::JobRecord& job) const {
  const std::string name =
      agent::RunFolder("", agent::TaggedRunName(job.run_id, job.run_tag));
  return std::ranges::any_of(folders_, [&](const Folder& folder) {
    char resolved[PATH_MAX];
    return realpath(folder.path.c_str(), resolved) != nullptr &&
           absl::EndsWith(resolved, name);
  });
}

absl::Status RunReader::FindRecord() {
  const std::string path = rendezvous::JournalFile::PathIn(query_.state_dir);
  absl::StatusOr<std::map<std::string, std::string>> records =
      rendezvous::JournalFile::RecordsIn(query_.state_dir);
  if (!records.ok()) return records.status();
  if (const auto memory = records->extract(rendezvous::kNodeMemoryKey)) {
    absl::StatusOr<rendezvous::NodeMemory::Kept> machines =
        rendezvous::MemoryFromBytes(memory.mapped());
    if (machines.ok()) {
      machines_ = *std::move(machines);
    } else {
      AddMissing(absl::StrCat("The memory of machines in ", path,
                              " is not readable: ", machines.status().message(),
                              "."));
    }
  }
  const bool is_by_folder =
      run_id_.empty() && run_ids_.empty() && !folders_.empty();
  const std::string wanted = !run_id_.empty()   ? run_id_
                             : run_ids_.empty() ? ""
                                                : *run_ids_.begin();
  std::vector<std::string> names;
  for (const auto& [run_id, bytes] : *records) {
    names.push_back(run_id);
    const bool is_only = wanted.empty() && records->size() == 1;
    if (run_id != wanted && !is_only && !is_by_folder) continue;
    absl::StatusOr<rendezvous::KeptJob> kept = rendezvous::FromBytes(bytes);
    if (is_by_folder && (!kept.ok() || !HasFolder(kept->job))) continue;
    if (!kept.ok() || kept->job.run_id != run_id) {
      return absl::DataLossError(absl::StrCat(
          "cannot use ", path, ": its record of ", PrintableLine(run_id),
          " is damaged, or of another version of Muster (",
          kept.ok() ? "it is another job's" : kept.status().message(), ")"));
    }
    kept_ = *std::move(kept);
  }
  const int64_t others =
      static_cast<int64_t>(records->size()) - (kept_.has_value() ? 1 : 0);
  if (kept_.has_value()) {
    AddSource(path, absl::StrCat(
                        "the record of ",
                        rendezvous::UtcText(ToSeconds(kept_->written_at)),
                        others > 0 ? absl::StrCat("; records of ",
                                                  Counted(others, "other job"))
                                   : ""));
    return absl::OkStatus();
  }
  if (names.size() > kMaxNamedRuns) names.resize(kMaxNamedRuns);
  const std::string list = PrintableLine(absl::StrJoin(names, ", "));
  if (wanted.empty() && !is_by_folder && others > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " has the records of several jobs; name one of them: ", list,
        others > static_cast<int64_t>(names.size()) ? ", …" : ""));
  }
  return absl::NotFoundError(absl::StrCat(
      path, " has no record of ",
      wanted.empty() ? "the run" : absl::StrCat("\"", wanted, "\""),
      others == 0 ? "" : absl::StrCat("; it has ", list),
      " (a coordinator removes the record some time after the job's end)"));
}

void RunReader::ReadStream(const Folder& folder, const std::string& path,
                           ReportOutput& output) {
  const absl::StatusOr<OpenFile> file = OpenBelow(folder.root, path);
  if (absl::IsNotFound(file.status())) return;
  if (!file.ok()) {
    AddSource(path, absl::StrCat("not read: ", file.status().message()));
    return;
  }
  const int64_t from =
      std::max<int64_t>(0, file->size - static_cast<int64_t>(kEndBytes));
  FileEnd end = EndOf(ReadAt(file->fd.get(), from, kEndBytes),
                      from == 0 ? FilePart::kWhole : FilePart::kEnd);
  AddSource(path, absl::StrCat(Counted(file->size, "byte"),
                               end.is_cut ? ", the last lines shown" : ""));
  output.streams.push_back({.name = path.substr(path.rfind('/') + 1),
                            .lines = std::move(end.lines),
                            .bytes = file->size,
                            .is_cut = end.is_cut});
}

void RunReader::ReadErrors(const Folder& folder, const std::string& path,
                           ReportOutput& output) {
  const absl::StatusOr<OpenFile> file = OpenBelow(folder.root, path);
  if (absl::IsNotFound(file.status())) return;
  if (!file.ok()) {
    AddSource(path, absl::StrCat("not read: ", file.status().message()));
    return;
  }
  const absl::StatusOr<agent::ErrorFile> errors = agent::ParseErrorFile(
      ReadAt(file->fd.get(), 0, agent::kMaxErrorFileBytes));
  if (!errors.ok()) {
    AddSource(path, absl::StrCat("not read: ", errors.status().message()));
    return;
  }
  AddSource(path, "error file");
  FileEnd message = EndOf(errors->message, FilePart::kWhole);
  output.error_message = absl::StrJoin(message.lines, " ");
  output.error_traceback =
      absl::StrJoin(EndOf(errors->traceback, FilePart::kWhole).lines, "\n");
}

void RunReader::ReadOutputs(std::vector<WantedOutput> wanted) {
  // The files that were not found. The key is a host; the value lists its ranks
  // and rounds: "rank 3 in round 2".
  std::map<std::string, std::vector<std::string>> absent;
  for (const WantedOutput& one : wanted) {
    ReportOutput output{.round = one.round,
                        .rank = one.rank,
                        .why = one.why,
                        .host = one.host,
                        .streams = {}};
    for (const Folder& folder : folders_) {
      const std::string at =
          agent::WorkerFolder(folder.path, one.round - 1, one.rank);
      if (!Exists(at, S_IFDIR)) continue;
      for (const char* name : {"stack.txt", "stderr.log", "stdout.log"}) {
        ReadStream(folder, absl::StrCat(at, "/", name), output);
      }
      ReadErrors(folder, at + "/error.json", output);
      break;
    }
    if (!output.streams.empty() || !output.error_message.empty()) {
      report_.outputs.push_back(std::move(output));
    } else if (!folders_.empty()) {
      // Name the rank's missing files only if a log folder was given. Without
      // any folder, FindMissingNodes reports that no worker's file was read.
      absent[one.host].push_back(
          absl::StrCat("rank ", one.rank, " in round ", one.round));
    }
  }
  for (const auto& [host, outputs] : absent) {
    AddMissing(absl::StrCat(
        "The files of ", absl::StrJoin(outputs, ", "), " are not here",
        host.empty() ? ""
                     : absl::StrCat("; they are on ", host,
                                    ", in the folder of --log-dir there"),
        ". Copy that folder to this machine, and name it as well."));
  }
}

std::vector<WantedOutput> RunReader::WantedWithoutEvents() const {
  std::vector<WantedOutput> wanted;
  for (const Folder& folder : folders_) {
    int newest = -1;
    for (const std::string& name : NamesIn(folder.path)) {
      int attempt = 0;
      if (absl::StartsWith(name, kAttempt) &&
          absl::SimpleAtoi(name.substr(sizeof(kAttempt) - 1), &attempt)) {
        newest = std::max(newest, attempt);
      }
    }
    if (newest < 0 || newest > 1'000'000'000) continue;
    std::vector<int> ranks;
    for (const std::string& name :
         NamesIn(agent::AttemptFolder(folder.path, newest))) {
      int rank = 0;
      if (absl::SimpleAtoi(name, &rank) && rank >= 0) ranks.push_back(rank);
    }
    std::ranges::sort(ranks);
    constexpr size_t kFirstRanks = 4;
    for (const int rank : ranks) {
      if (wanted.size() == kFirstRanks) break;
      wanted.push_back({.round = newest + 1,
                        .rank = rank,
                        .why = "there is no event log that says who failed",
                        .host = ""});
    }
  }
  return wanted;
}

void RunReader::ReadFlights() {
  std::set<int, std::greater<>> rounds;
  for (const ReportInterruption& one : report_.interruptions) {
    rounds.insert(one.round);
  }
  const bool is_unfinished = !report_.verdict.has_value();
  if (is_unfinished && !report_.rounds.empty()) {
    rounds.insert(report_.rounds.back().number);
  }
  for (const int round : rounds) {
    for (const Folder& folder : folders_) {
      if (report_.flights.size() == kMaxFlights) return;
      const std::string at = agent::AttemptFolder(folder.path, round - 1);
      size_t files = 0;
      for (const std::string& name : NamesIn(at)) {
        files += absl::StartsWith(name, "rank_") ? 1 : 0;
      }
      if (files == 0) continue;
      if (files > kMaxFlightFiles) {
        AddSource(at, "too many flight records; see launch inspect");
        continue;
      }
      const absl::StatusOr<Flight> flight = ReadFlight({at});
      if (!flight.ok()) {
        AddSource(at, absl::StrCat("flight records not read: ",
                                   flight.status().message()));
        continue;
      }
      const FlightAnalysis analysis =
          AnalyseFlight(flight->logs, flight->ends, flight->dumped);
      const int logs = static_cast<int>(flight->logs.size());
      report_.flights.push_back(
          {.round = round, .text = InspectText(analysis, logs, TextTarget())});
      AddSource(at, absl::StrCat("flight records of ", Counted(logs, "rank")));
    }
  }
}

void RunReader::FindMissingNodes() {
  if (folders_.empty()) {
    AddMissing(
        "The workers' files were not looked for: name the run's folder below "
        "--log-dir as well.");
    return;
  }
  if (report_.rounds.empty()) return;
  const int attempt = report_.rounds.back().number - 1;
  std::vector<std::string> absent;
  for (const RecordedNode& node : report_.node_times) {
    if (!node.first_rank.has_value() || node.slots == 0) continue;
    const bool is_here = std::ranges::any_of(folders_, [&](const Folder& one) {
      return Exists(agent::WorkerFolder(one.path, attempt, *node.first_rank),
                    S_IFDIR);
    });
    if (is_here) continue;
    const int last = *node.first_rank + node.slots - 1;
    absent.push_back(absl::StrCat(
        node.node_id, " (",
        node.slots == 1
            ? absl::StrCat("rank ", *node.first_rank)
            : absl::StrCat("ranks ", *node.first_rank, " to ", last),
        ")"));
  }
  if (absent.empty()) return;
  const size_t count = absent.size();
  if (count > kMaxNamedRuns) absent.resize(kMaxNamedRuns);
  AddMissing(absl::StrCat(
      "Not here are the files of ",
      Counted(static_cast<int64_t>(count), "node"), ": ",
      absl::StrJoin(absent, ", "),
      count > absent.size()
          ? absl::StrCat(" and ", count - absent.size(), " more")
          : "",
      ". They are on these nodes, in the folder of --log-dir there, if it was "
      "given: copy the folders here, and name them as well."));
}

absl::Status RunReader::Find() {
  absl::Status logs = FindFolders();
  if (logs.ok()) logs = FindEvents();
  if (query_.state_dir.empty() || absl::IsInvalidArgument(logs)) return logs;
  const absl::Status journal = FindRecord();
  if (!logs.ok() && !journal.ok()) {
    return absl::Status(
        logs.code(), absl::StrCat(logs.message(), "; and ", journal.message()));
  }
  if (!logs.ok()) {
    AddMissing(absl::StrCat("No logs were read: ", logs.message(), "."));
  }
  if (journal.ok()) return journal;
  const bool has_logs = !events_.empty() || !folders_.empty();
  if (!has_logs || absl::IsInvalidArgument(journal)) return journal;
  AddMissing(absl::StrCat("No journal was read: ", journal.message(), "."));
  return absl::OkStatus();
}

absl::StatusOr<RunReport> RunReader::Read() {
  const absl::Status found = Find();
  if (!found.ok()) return found;
  std::ranges::stable_sort(events_, [](const KeptEvent& a, const KeptEvent& b) {
    return a.event.time < b.event.time;
  });
  ReportBuilder builder;
  for (const KeptEvent& one : events_) builder.Add(one.event);
  const bool has_events = !events_.empty();
  events_.clear();
  const int earlier = builder.earlier_runs();
  std::vector<ReportSource> sources = std::move(report_.sources);
  std::vector<std::string> missing = std::move(report_.missing);
  report_ = builder.Take();
  if (kept_.has_value() && !has_events) report_ = ReportOf(*kept_);
  report_.sources = std::move(sources);
  report_.missing = std::move(missing);
  if (kept_.has_value() && has_events) AddRecord(*kept_, report_);
  if (kept_.has_value()) AddMachines(machines_, report_);
  if (earlier > 0) {
    AddMissing(absl::StrCat(Counted(earlier, "earlier run"),
                            " with this run id left out."));
  }
  if (dropped_ > 0) {
    AddMissing(absl::StrCat(Counted(dropped_, "older event"), " left out."));
  }
  if (!has_events) {
    if (!kept_.has_value()) {
      const std::string& path = folders_.front().path;
      report_.run_id =
          !run_id_.empty() ? run_id_ : path.substr(path.rfind('/') + 1);
    }
    AddMissing(
        "There is no events.jsonl: it is on the node that hosted the "
        "coordinator, or is the file of rendezvousd --event-log.");
  }
  ReadOutputs(!report_.rounds.empty() || has_events ? WantedOutputs(report_)
                                                    : WantedWithoutEvents());
  ReadFlights();
  FindMissingNodes();
  if (sources_left_out_ > 0) {
    report_.missing.push_back(absl::StrCat(
        Counted(sources_left_out_, "further file"), " not listed."));
  }
  if (missing_left_out_ > 0) {
    report_.missing.push_back(
        absl::StrCat(missing_left_out_, " further entries not listed."));
  }
  return std::move(report_);
}

}  // namespace

FileEnd EndOf(std::string_view bytes, FilePart part) {
  FileEnd end{.lines = {}, .is_cut = part == FilePart::kEnd};
  if (part == FilePart::kEnd) {
    // `bytes`, the end of a file, usually begins in the middle of a line. Drop
    // this incomplete first line if another line follows.
    const size_t first = bytes.find('\n');
    if (first != std::string_view::npos && first + 1 < bytes.size()) {
      bytes.remove_prefix(first + 1);
    }
  }
  std::deque<std::string> lines;
  while (!bytes.empty()) {
    const size_t at = bytes.find('\n');
    std::string_view line = bytes.substr(0, at);
    bytes.remove_prefix(at == std::string_view::npos ? bytes.size() : at + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t newest = line.rfind('\r');
    if (newest != std::string_view::npos) line.remove_prefix(newest + 1);
    // Convert only the beginning of a long line. The limit allows 16 bytes for
    // each column, because escape sequences take bytes but no columns.
    constexpr size_t kMaxBytes = 16 * kMaxEndColumns;
    const std::string_view begin = line.substr(0, kMaxBytes);
    const std::vector<std::string> printable = PrintableLines(begin);
    std::string text = printable.empty() ? "" : printable[0];
    if (begin.size() < line.size() || Columns(text) > kMaxEndColumns) {
      text = absl::StrCat(Shorten(text, kMaxEndColumns), " [line of ",
                          line.size(), " bytes]");
      end.is_cut = true;
    }
    lines.push_back(std::move(text));
    if (lines.size() > kMaxEndLines) {
      lines.pop_front();
      end.is_cut = true;
    }
  }
  end.lines.assign(lines.begin(), lines.end());
  return end;
}

absl::StatusOr<RunReport> ReadRun(const RunQuery& query) {
  return RunReader(query).Read();
}

}  // namespace muster::launcher
