#ifndef MUSTER_AGENT_LOGS_LOG_ROUTER_H_
#define MUSTER_AGENT_LOGS_LOG_ROUTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "agent/logs/console.h"
#include "agent/logs/log_account.h"
#include "agent/logs/log_plan.h"
#include "agent/logs/recent_output.h"
#include "agent/logs/worker_stream.h"
#include "base/file_queue.h"

namespace muster::agent {

// The worker whose output is routed.
struct LoggedWorker {
  int attempt = 0;
  int local_rank = 0;
  int rank = 0;
  std::string prefix;  // for example "[node:rank] "
  // Whether the worker is the node's only worker, and therefore gets the
  // console's terminal.
  bool alone = false;
};

// The destination of a stream that is passed on to a terminal unchanged: not
// split into lines, and without prefixes.
struct Passage {
  int terminal = -1;
  std::function<void(std::string_view)> console;
};

// The state of a terminal to which a worker's stdout and stderr are passed on
// unchanged. Both streams share this object.
struct PassedOutput {
  std::mutex mutex;  // guards the fields below
  int open = 0;      // number of the worker's streams that have not ended
  char last = '\n';
};

// Checks that `run_folder` can be written, or `directory` if `run_folder` is
// empty. Creates the folder. Waits for the file system. Errors: see
// LogRelay::CheckWritable.
absl::Status CheckLogFolderWritable(const std::string& directory,
                                    const std::string& run_folder);

// Chooses the destinations of each worker's streams: files, console, filtered
// files. Not thread-safe; the sinks that it makes may be used in several
// threads.
class LogRouter {
 public:
  // `files`: the queue that writes the log files; must outlive the router and
  // its sinks.
  LogRouter(LogPlan plan, FileQueue* files, std::shared_ptr<Console> console,
            std::shared_ptr<LogAccount> account);

  // BeginRound and DirectoryOf have the contracts of the LogRelay functions
  // with the same names.
  bool BeginRound(const std::string& run_tag);
  std::string DirectoryOf(int attempt, int rank) const;

  // Makes the sinks (destinations) of a stream, and requests the creation of
  // the worker's folder and file. Errors are printed on the console; the
  // returned sinks are usable even then.
  StreamSinks SinksFor(const LoggedWorker& worker, StreamSet stream);

  // The terminal to which the stream is passed unchanged; nullopt: the stream
  // uses SinksFor's console sink instead. A stream is passed on if all of these
  // hold:
  // - its worker is the node's only one
  // - the console is a terminal
  // - the stream is shown and not teed
  //
  // At the end of a stream that is passed on, the caller calls Passage::console
  // with an empty text.
  std::optional<Passage> PassageOf(const LoggedWorker& worker,
                                   StreamSet stream) const;

  // Releases the router's references to the filtered files. Each file is closed
  // when all streams that write to it have ended.
  void CloseFilteredFiles() { filtered_.clear(); }

  Console& console() const { return *console_; }
  const std::shared_ptr<RecentOutput>& recent() const { return recent_; }
  // The folder of this run's files; empty: no files, or the folder is not known
  // yet.
  const std::string& run_folder() const { return run_folder_; }
  // The value of --log-dir; empty: no files.
  const std::string& directory() const { return plan_.directory; }

 private:
  const std::shared_ptr<ConsoleWriter>& WriterOf(StreamSet stream) const;
  bool IsShown(const LoggedWorker& worker, StreamSet stream) const;
  int PassesTo(const LoggedWorker& worker, StreamSet stream) const;
  std::unique_ptr<QueuedFile> NewFile(std::string path,
                                      LogAccount::Copies copies) const;
  std::shared_ptr<QueuedFile> FilteredFile(int attempt, StreamSet stream);

  const LogPlan plan_;
  FileQueue* const files_;
  std::string run_folder_;  // the folder of this run's files; empty: no files
  const std::shared_ptr<Console> console_;
  const std::shared_ptr<LogAccount> account_;
  const std::shared_ptr<PassedOutput> passed_ =
      std::make_shared<PassedOutput>();
  const std::shared_ptr<RecentOutput> recent_ =
      std::make_shared<RecentOutput>();
  uint64_t next_stream_ = 1;
  int filtered_attempt_ = -1;
  std::map<StreamSet, std::shared_ptr<QueuedFile>> filtered_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LOG_ROUTER_H_
