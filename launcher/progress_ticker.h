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

// For `launch watch`: asks for the job's progress at intervals, on a thread of
// its own, and reports changes.
class ProgressTicker {
 public:
  // Returns the job's current status; nullopt if the coordinator did not
  // answer.
  using Look = std::function<std::optional<rendezvous::JobStatus>()>;
  // Called with the job's status when the text of its ProgressLine or RankLines
  // has changed. The time for which a rank has been silent grows all the time;
  // this counts as a change only once, when the time reaches kLongSilence.
  using Tell = std::function<void(const rendezvous::JobStatus& job)>;

  // Calls `look` and `tell` on the ticker's thread. `every`: the interval
  // between two calls, and between construction and the first call.
  ProgressTicker(Duration every, Look look, Tell tell);
  // Blocks until a running call of `look` or `tell` has returned.
  ~ProgressTicker();
  ProgressTicker(const ProgressTicker&) = delete;
  ProgressTicker& operator=(const ProgressTicker&) = delete;

 private:
  void Run(Duration every);

  const Look look_;
  const Tell tell_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  // whether the ticker's thread is to end, as the destructor requests; guarded
  // by mutex_
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_PROGRESS_TICKER_H_
