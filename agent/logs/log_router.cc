#include "agent/logs/log_router.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "agent/logs/log_paths.h"
#include "base/file_below.h"
#include "base/folder.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

// The stream id for both streams of a worker whose output is passed to the
// terminal unchanged. Because the streams have the same id, neither stream ends
// the other stream's unfinished line.
constexpr uint64_t kPassed = ~uint64_t{1};

// Writes `bytes` to the terminal unchanged; empty bytes mean the end of a
// stream. After the last stream has ended, the next text begins on a new line.
void Pass(std::string_view bytes, ConsoleWriter& writer, PassedOutput& passed) {
  std::lock_guard<std::mutex> lock(passed.mutex);
  if (bytes.empty()) {
    if (--passed.open > 0 || passed.last == '\n') return;
    writer.WriteOutput(LinePart{.stream = kPassed, .ends = true});
    passed.last = '\n';
    return;
  }
  const size_t lines = bytes.rfind('\n');
  if (lines != std::string_view::npos && passed.last == '\n') {
    writer.WriteOutput(std::string(bytes.substr(0, lines + 1)));
  } else if (lines != std::string_view::npos) {
    writer.WriteOutput(LinePart{.stream = kPassed,
                                .text = std::string(bytes.substr(0, lines)),
                                .ends = true});
  }
  passed.last = bytes.back();
  if (lines != std::string_view::npos) bytes.remove_prefix(lines + 1);
  if (bytes.empty()) return;
  writer.WriteOutput(LinePart{.stream = kPassed, .text = std::string(bytes)});
}

}  // namespace

LogRouter::LogRouter(LogPlan plan, FileQueue* files,
                     std::shared_ptr<Console> console,
                     std::shared_ptr<LogAccount> account)
    : plan_(std::move(plan)),
      files_(files),
      run_folder_(plan_.directory.empty() || plan_.is_tagged
                      ? ""
                      : RunFolder(plan_.directory, plan_.run_name)),
      console_(std::move(console)),
      account_(std::move(account)) {}

absl::Status CheckLogFolderWritable(const std::string& directory,
                                    const std::string& run_folder) {
  if (run_folder.empty()) return CheckFolderWritable(directory);
  const absl::StatusOr<OwnedFd> folder = OpenFolderBelow(directory, run_folder);
  if (!folder.ok()) return folder.status();
  return CheckFolderWritable(run_folder);
}

bool LogRouter::BeginRound(const std::string& run_tag) {
  if (plan_.directory.empty() || !plan_.is_tagged) return false;
  const std::string folder =
      RunFolder(plan_.directory, TaggedRunName(plan_.run_name, run_tag));
  if (folder == run_folder_) return false;
  run_folder_ = folder;
  filtered_.clear();
  return true;
}

std::string LogRouter::DirectoryOf(int attempt, int rank) const {
  if (run_folder_.empty()) return "";
  return WorkerFolder(run_folder_, attempt, rank);
}

std::unique_ptr<QueuedFile> LogRouter::NewFile(
    std::string path, LogAccount::Copies copies) const {
  RotatingFile::Limits limits;
  limits.rotate_bytes = plan_.rotate_bytes;
  limits.keep = plan_.keep_rotated;
  limits.root = plan_.directory;
  // A file that has the only copy of a stream's output is rotated only if the
  // user asked for it (kOfAllStreams), because rotation deletes old output.
  const bool keeps_all = copies == LogAccount::Copies::kFileOnly &&
                         plan_.rotation == LogPlan::Rotation::kOfShownStreams;
  if (keeps_all) limits.rotate_bytes = 0;
  return std::make_unique<QueuedFile>(
      files_, std::move(path), limits,
      [err = console_->err()](const std::string& sentence) {
        err->Write("[muster] log: " + sentence + "\n");
      },
      [account = account_, copies](const RotatingFile::Totals& totals) {
        account->Add(copies, totals);
      });
}

std::shared_ptr<QueuedFile> LogRouter::FilteredFile(int attempt,
                                                    StreamSet stream) {
  if (filtered_attempt_ != attempt) filtered_.clear();
  filtered_attempt_ = attempt;
  std::shared_ptr<QueuedFile>& file = filtered_[stream];
  if (file == nullptr) {
    file = NewFile(AttemptFolder(run_folder_, attempt) +
                       (stream == StreamSet::kOut ? "/filtered_stdout.log"
                                                  : "/filtered_stderr.log"),
                   // kConsole, because the filtered file is not the only copy
                   // of its lines: these lines are also on the console or in
                   // the workers' own log files.
                   LogAccount::Copies::kConsole);
  }
  return file;
}

const std::shared_ptr<ConsoleWriter>& LogRouter::WriterOf(
    StreamSet stream) const {
  return stream == StreamSet::kOut ? console_->out() : console_->err();
}

bool LogRouter::IsShown(const LoggedWorker& worker, StreamSet stream) const {
  const std::set<int>& shown_ranks = plan_.console_local_ranks;
  bool shown_rank =
      shown_ranks.empty() || shown_ranks.count(worker.local_rank) > 0;
  bool shown_stream =
      !Contains(plan_.redirects.For(worker.local_rank), stream) ||
      Contains(plan_.tee.For(worker.local_rank), stream);
  return shown_rank && shown_stream;
}

// The descriptor of the terminal to which the worker's stdout or stderr
// (`stream`) is passed unchanged; -1: the stream is not passed to a terminal.
int LogRouter::PassesTo(const LoggedWorker& worker, StreamSet stream) const {
  const ConsoleFds fds = console_->fds();
  const int fd = stream == StreamSet::kOut ? fds.out : fds.err;
  const bool teed = Contains(plan_.tee.For(worker.local_rank), stream);
  const bool passes = worker.alone && IsShown(worker, stream) && !teed;
  return passes && isatty(fd) == 1 ? fd : -1;
}

std::optional<Passage> LogRouter::PassageOf(const LoggedWorker& worker,
                                            StreamSet stream) const {
  const int terminal = PassesTo(worker, stream);
  if (terminal < 0) return std::nullopt;
  {
    std::lock_guard<std::mutex> lock(passed_->mutex);
    ++passed_->open;
  }
  return Passage{
      terminal, [writer = WriterOf(stream), passed = passed_](
                    std::string_view bytes) { Pass(bytes, *writer, *passed); }};
}

StreamSinks LogRouter::SinksFor(const LoggedWorker& worker, StreamSet stream) {
  bool is_stdout = stream == StreamSet::kOut;
  StreamSinks sinks;
  sinks.prefix = worker.prefix;
  sinks.recent = std::make_unique<RecentStream>(
      recent_,
      RecentOutput::Worker{.local_rank = worker.local_rank,
                           .rank = worker.rank,
                           .round = worker.attempt + 1},
      is_stdout ? RecentOutput::Stream::kOut : RecentOutput::Stream::kErr);
  sinks.remember = is_stdout ? Remember::kNothing : Remember::kLastLines;
  if (!run_folder_.empty()) {
    const bool is_seen = IsShown(worker, stream) && !plan_.console.drops;
    sinks.file = NewFile(
        DirectoryOf(worker.attempt, worker.rank) +
            (is_stdout ? "/stdout.log" : "/stderr.log"),
        is_seen ? LogAccount::Copies::kConsole : LogAccount::Copies::kFileOnly);
    sinks.file->Open();
    sinks.filter =
        StreamFilter(is_stdout ? plan_.stdout_filters : plan_.stderr_filters);
    sinks.has_room = [files = files_] { return files->HasRoom(); };
    if (!sinks.filter.empty()) {
      sinks.filtered_file = FilteredFile(worker.attempt, stream);
    }
  }
  if (IsShown(worker, stream)) {
    const std::shared_ptr<ConsoleWriter> writer = WriterOf(stream);
    sinks.has_room = [writer, files = files_] {
      return writer->HasRoom() && files->HasRoom();
    };
    if (PassesTo(worker, stream) >= 0) return sinks;
    sinks.stream = next_stream_++;
    sinks.console = [writer](std::string lines) {
      writer->WriteOutput(std::move(lines));
    };
    sinks.console_part = [writer](const LinePart& part) {
      writer->WriteOutput(part);
    };
  }
  return sinks;
}

}  // namespace muster::agent
