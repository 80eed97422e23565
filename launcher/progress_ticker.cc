#include "launcher/progress_ticker.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "launcher/report/progress_text.h"

namespace muster::launcher {
namespace {

// Returns a text that changes whenever there is new progress to print; empty:
// nothing to print.
std::string NewsOf(rendezvous::JobStatus job) {
  const std::string line = ProgressLine(job);
  if (line.empty()) return "";
  for (rendezvous::NodeStatus& node : job.nodes) {
    for (rendezvous::WorkerProgress& said : node.progress) {
      said.silent_for = std::min(said.silent_for, kLongSilence);
      if (said.silent_for < kLongSilence) said.silent_for = Duration::zero();
    }
  }
  return line + "\n" + RankLines(job, {});
}

}  // namespace

ProgressTicker::ProgressTicker(Duration every, Look look, Tell tell)
    : look_(std::move(look)),
      tell_(std::move(tell)),
      thread_([this, every] { Run(every); }) {}

ProgressTicker::~ProgressTicker() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  thread_.join();
}

void ProgressTicker::Run(Duration every) {
  std::string last;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_.wait_for(lock, every, [this] { return stop_; })) {
    lock.unlock();
    if (const std::optional<rendezvous::JobStatus> job = look_()) {
      std::string news = NewsOf(*job);
      if (!news.empty() && news != last) tell_(*job);
      last = std::move(news);
    }
    lock.lock();
  }
}

}  // namespace muster::launcher
