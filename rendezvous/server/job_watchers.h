#ifndef MUSTER_RENDEZVOUS_SERVER_JOB_WATCHERS_H_
#define MUSTER_RENDEZVOUS_SERVER_JOB_WATCHERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "rendezvous/protocol/job_status.h"

namespace muster {

// Who wants to know of a job's decisions. Tells them in the order in which they
// were noted, one at a time, whatever threads note them. Thread-safe.
class JobWatchers {
 public:
  using Told = std::function<void(const Decision&)>;

  // `always`: told as well, before the others; may be empty.
  explicit JobWatchers(Told always) : always_(std::move(always)) {}

  // False: there are too many already.
  bool Add(uint64_t id, Told told);
  // Returns once `id` is not being told any more. Not from within a call.
  void Remove(uint64_t id);

  // Keeps `decisions` for Tell. Cheap: call it with the job's lock held, so
  // that the order is that of the decisions.
  void Note(std::vector<Decision> decisions);
  // Tells what has been noted, unless another thread is at it: then that one
  // tells this too. Call it without the job's lock.
  void Tell();

 private:
  struct Watcher {
    explicit Watcher(Told fn) : told(std::move(fn)) {}
    std::mutex mutex;
    Told told;  // empty once removed
  };

  const Told always_;
  std::mutex mutex_;
  std::vector<Decision> noted_;
  bool telling_ = false;
  std::map<uint64_t, std::shared_ptr<Watcher>> watchers_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_JOB_WATCHERS_H_
