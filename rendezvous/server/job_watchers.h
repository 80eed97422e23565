#ifndef MUSTER_RENDEZVOUS_SERVER_JOB_WATCHERS_H_
#define MUSTER_RENDEZVOUS_SERVER_JOB_WATCHERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// The observers of a job's decisions. Calls them in the order of Note, one call
// at a time, whichever threads call Note and Tell. Thread-safe.
class JobWatchers {
 public:
  using Told = std::function<void(const Decision&)>;

  // `always` is called before the other observers; may be empty.
  explicit JobWatchers(Told always) : always_(std::move(always)) {}

  // Returns false if there are too many observers already.
  bool Add(uint64_t id, Told told);
  // Returns once `id` is not being called any more. Must not be called from an
  // observer.
  void Remove(uint64_t id);

  // Keeps `decisions` for the next Tell. Cheap: call it with the job's lock
  // held, so that the order is that of the decisions.
  void Note(std::vector<Decision> decisions);
  // Passes on what was noted. If another thread is doing so, that thread also
  // passes on the new decisions, and Tell returns at once. Call it without the
  // job's lock.
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

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_JOB_WATCHERS_H_
