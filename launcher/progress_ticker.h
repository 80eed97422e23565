#ifndef MUSTER_LAUNCHER_PROGRESS_TICKER_H_
#define MUSTER_LAUNCHER_PROGRESS_TICKER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/time.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// For `launch watch`: asks now and then how far a job is, in a thread of its
// own, and tells what is new.
class ProgressTicker {
 public:
  // The job now; nothing where it could not be asked.
  using Look = std::function<std::optional<rendezvous::JobStatus>()>;
  // The job, where its ProgressLine or RankLines say something new; that a rank
  // is silent is said once.
  using Tell = std::function<void(const rendezvous::JobStatus& job)>;

  // Both are called from the ticker's thread, first after `every`.
  ProgressTicker(Duration every, Look look, Tell tell);
  // Waits for a look that is under way.
  ~ProgressTicker();
  ProgressTicker(const ProgressTicker&) = delete;
  ProgressTicker& operator=(const ProgressTicker&) = delete;

 private:
  void Run(Duration every);

  const Look look_;
  const Tell tell_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_PROGRESS_TICKER_H_
