#include "launcher/progress_ticker.h"

#include <optional>
#include <utility>

#include "agent/report/progress_text.h"

namespace muster {

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
    if (const std::optional<JobStatus> job = look_()) {
      std::string line = ProgressLine(*job);
      if (!line.empty() && line != last) tell_(job->round, line);
      last = std::move(line);
    }
    lock.lock();
  }
}

}  // namespace muster
