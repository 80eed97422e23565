#include "rendezvous/probes/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"
#include "base/write_all.h"

namespace muster::rendezvous {
namespace {

constexpr Duration kEndTimeout = std::chrono::seconds(1);

// Replaces the file atomically by a file with `text`. Returns the error; "":
// none.
std::string Replace(const std::string& path, const std::string& text) {
  // The temporary name contains the process id, so that two processes with the
  // same path do not mix their texts.
  const std::string beside = absl::StrCat(path, ".", getpid());
  const auto failed = [&] {
    const std::string why = std::strerror(errno);
    unlink(beside.c_str());
    return why;
  };
  // Remove a symbolic link at this name, because open would follow it. Other
  // users may be able to write in the folder.
  unlink(beside.c_str());
  const OwnedFd file(
      open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.open()) return std::strerror(errno);
  // node_exporter runs as another user, and must be able to read the file.
  if (fchmod(file.get(), 0644) != 0) return failed();
  if (!WriteAll(file.get(), text)) return failed();
  if (rename(beside.c_str(), path.c_str()) != 0) return failed();
  return "";
}

}  // namespace

absl::Status CheckMetricsFile(const std::string& path) {
  if (absl::EndsWith(path, ".prom")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", path,
                   "' does not end with .prom; node_exporter reads "
                   "no other files"));
}

struct MetricsFile::Outcome {
  std::mutex mutex;
  bool is_pending = false;  // whether the newest write is still in progress
  std::string error;
};

MetricsFile::MetricsFile(std::string path, std::function<std::string()> make,
                         std::function<void(const std::string&)> say,
                         Duration interval)
    : path_(std::move(path)),
      make_(std::move(make)),
      say_(std::move(say)),
      outcome_(std::make_shared<Outcome>()),
      queue_(say_),
      thread_([this, interval] { Run(interval); }) {}

MetricsFile::~MetricsFile() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  thread_.join();
  queue_.Post(path_, [path = path_] { unlink(path.c_str()); });
  FileQueue::WaitLimits limits;
  limits.without_progress = kEndTimeout;
  queue_.Finish(limits);
}

void MetricsFile::Run(Duration interval) {
  std::unique_lock<std::mutex> lock(mutex_);
  do {
    lock.unlock();
    Write();
    lock.lock();
  } while (!stopping_.wait_for(lock, interval, [this] { return stop_; }));
}

void MetricsFile::Write() {
  queue_.Look();
  std::string error;
  {
    const std::lock_guard<std::mutex> lock(outcome_->mutex);
    if (outcome_->is_pending) return;
    error = outcome_->error;
    outcome_->is_pending = true;
  }
  if (!error.empty() && !has_complained_) {
    say_(absl::StrCat("cannot write the metrics to ", path_, ": ", error));
  }
  has_complained_ = !error.empty();
  queue_.Post(path_, [path = path_, text = make_(), outcome = outcome_] {
    std::string why = Replace(path, text);
    const std::lock_guard<std::mutex> lock(outcome->mutex);
    outcome->error = std::move(why);
    outcome->is_pending = false;
  });
}

}  // namespace muster::rendezvous
