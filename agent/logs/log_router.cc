#include "agent/logs/log_router.h"

#include <utility>
#include <vector>

#include "agent/logs/log_paths.h"
#include "base/log_folder.h"

namespace muster {

LogRouter::LogRouter(LogPlan plan, std::shared_ptr<Console> console)
    : plan_(std::move(plan)),
      run_folder_(plan_.directory.empty()
                      ? ""
                      : RunFolder(plan_.directory, plan_.run_name)),
      console_(std::move(console)) {}

absl::Status LogRouter::CheckWritable() const {
  if (run_folder_.empty()) return absl::OkStatus();
  return CheckFolderWritable(run_folder_);
}

std::string LogRouter::DirectoryOf(int attempt, int rank) const {
  if (run_folder_.empty()) return "";
  return WorkerFolder(run_folder_, attempt, rank);
}

std::unique_ptr<RotatingFile> LogRouter::NewFile(std::string path) const {
  return std::make_unique<RotatingFile>(
      std::move(path),
      RotatingFile::Limits{plan_.rotate_bytes, plan_.keep_rotated},
      [err = console_->err()](const std::string& sentence) {
        err->Write("[muster] log: " + sentence + "\n");
      });
}

std::shared_ptr<RotatingFile> LogRouter::FilteredFile(int attempt,
                                                      Streams stream) {
  if (filtered_attempt_ != attempt) filtered_.clear();
  filtered_attempt_ = attempt;
  std::shared_ptr<RotatingFile>& file = filtered_[stream];
  if (file == nullptr) {
    file = NewFile(AttemptFolder(run_folder_, attempt) +
                   (stream == Streams::kOut ? "/filtered_stdout.log"
                                            : "/filtered_stderr.log"));
  }
  return file;
}

StreamSinks LogRouter::SinksFor(const LoggedWorker& worker, Streams stream) {
  bool is_stdout = stream == Streams::kOut;
  StreamSinks sinks;
  sinks.prefix = worker.prefix;
  sinks.remember = is_stdout ? Remember::kNothing : Remember::kLastLines;
  if (!run_folder_.empty()) {
    sinks.file = NewFile(DirectoryOf(worker.attempt, worker.rank) +
                         (is_stdout ? "/stdout.log" : "/stderr.log"));
    sinks.file->Open();
    sinks.filter =
        StreamFilter(is_stdout ? plan_.stdout_filters : plan_.stderr_filters);
    if (!sinks.filter.empty()) {
      sinks.filtered_file = FilteredFile(worker.attempt, stream);
    }
  }
  const std::set<int>& shown_ranks = plan_.console_local_ranks;
  bool shown_rank =
      shown_ranks.empty() || shown_ranks.count(worker.local_rank) > 0;
  bool shown_stream =
      !Contains(plan_.redirects.For(worker.local_rank), stream) ||
      Contains(plan_.tee.For(worker.local_rank), stream);
  if (shown_rank && shown_stream) {
    const std::shared_ptr<ConsoleWriter> writer =
        is_stdout ? console_->out() : console_->err();
    sinks.stream = next_stream_++;
    sinks.console = [writer](std::string lines) {
      writer->WriteOutput(std::move(lines));
    };
    sinks.console_part = [writer](const LinePart& part) {
      writer->WriteOutput(part);
    };
    sinks.has_room = [writer] { return writer->HasRoom(); };
  }
  return sinks;
}

}  // namespace muster
