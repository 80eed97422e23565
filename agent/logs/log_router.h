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
#include "agent/logs/worker_stream.h"
#include "base/rotating_file.h"

namespace muster::agent {

// A worker, as its output is named.
struct LoggedWorker {
  int attempt = 0;
  int local_rank = 0;
  int rank = 0;
  std::string prefix;  // "[node:rank] "
  // Whether the node has no other: its console is this worker's terminal then.
  bool alone = false;
};

// A stream that goes to a terminal as it is: no lines, no prefixes.
struct Passage {
  int terminal = -1;
  std::function<void(std::string_view)> console;
};

// What a terminal got from such streams, of both of a worker.
struct PassedOutput {
  std::mutex mutex;  // guards what follows
  int open = 0;      // streams that have not ended
  char last = '\n';
};

// Turns the plan into places for the streams of each worker: files, console,
// filtered files. Not thread-safe; the sinks that it makes may be used in
// several threads.
class LogRouter {
 public:
  LogRouter(LogPlan plan, std::shared_ptr<Console> console,
            std::shared_ptr<LogAccount> account);

  // See LogRelay.
  absl::Status CheckWritable() const;
  bool BeginRound(const std::string& run_tag);
  std::string DirectoryOf(int attempt, int rank) const;

  // Makes the worker's folder and file. What cannot be written is told on the
  // console, and the sinks are good all the same.
  StreamSinks SinksFor(const LoggedWorker& worker, StreamSet stream);

  // How the stream reaches the terminal, if it goes there as it is: that of the
  // only worker of a node, if it is shown and not teed, where the console is a
  // terminal. SinksFor leaves the console out then. The end of each is to be
  // told (no bytes).
  std::optional<Passage> PassageOf(const LoggedWorker& worker,
                                   StreamSet stream) const;

  // Forgets the filtered files, which closes them once their streams end.
  void CloseFilteredFiles() { filtered_.clear(); }

  Console& console() const { return *console_; }
  // The folder of this run's files; empty: there are none (yet).
  const std::string& run_folder() const { return run_folder_; }

 private:
  const std::shared_ptr<ConsoleWriter>& WriterOf(StreamSet stream) const;
  bool IsShown(const LoggedWorker& worker, StreamSet stream) const;
  int PassesTo(const LoggedWorker& worker, StreamSet stream) const;
  std::unique_ptr<RotatingFile> NewFile(std::string path,
                                        LogAccount::Copies copies) const;
  std::shared_ptr<RotatingFile> FilteredFile(int attempt, StreamSet stream);

  const LogPlan plan_;
  std::string run_folder_;  // empty: no files
  const std::shared_ptr<Console> console_;
  const std::shared_ptr<LogAccount> account_;
  const std::shared_ptr<PassedOutput> passed_ =
      std::make_shared<PassedOutput>();
  uint64_t next_stream_ = 1;
  int filtered_attempt_ = -1;
  std::map<StreamSet, std::shared_ptr<RotatingFile>> filtered_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LOG_ROUTER_H_
