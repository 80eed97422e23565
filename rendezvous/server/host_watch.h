#ifndef MUSTER_RENDEZVOUS_SERVER_HOST_WATCH_H_
#define MUSTER_RENDEZVOUS_SERVER_HOST_WATCH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/journal/record_store.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/quarantine/node_memory.h"

namespace muster::rendezvous {

// The memory of a coordinator's machines (NodeMemory), which all of its jobs
// share. Adds the clock, keeps the memory in the journal, and calls
// on_quarantine for each quarantine. Thread-safe. No call waits for I/O or
// calls a job.
class HostWatch {
 public:
  // A machine that has just been quarantined, and the job of its newest fault.
  struct Notice {
    HostKey key;
    HostJudgement judgement;
    std::string run_id;
  };
  struct Options {
    RecordStore* records = nullptr;  // null: the memory is not kept
    NodeMemory::Kept kept;           // the memory of an earlier coordinator
    Quarantine quarantine = Quarantine::kOn;
    // Called for each quarantine; must not block. May be empty.
    std::function<void(const Notice&)> on_quarantine;
    // The wall clock: the time since 1970.
    std::function<Duration()> clock;
  };
  explicit HostWatch(Options options);

  // Count the connected nodes, because only a part of them may be quarantined
  // at a time.
  void NodeCame() { ++nodes_; }
  void NodeLeft() { --nodes_; }

  void Record(const std::vector<HostFault>& faults);
  // Call NodeMemory::Free and Ban. If the call succeeds and the memory is
  // stored in a journal, `kept` is called once, as RecordStore::Put calls
  // `done`.
  absl::Status Free(const std::string& host, const std::string& by,
                    std::function<void()> kept = nullptr);
  absl::Status Ban(const std::string& host, const std::string& reason,
                   std::function<void()> kept = nullptr);

  // A version of the judgement of all machines.
  struct Version {
    uint64_t number = 0;
    std::shared_ptr<const HostView> view;
  };
  // Returns the newest version; nullopt: the caller knows it already, because
  // its number is `known`. O(1) unless a judgement has changed.
  std::optional<Version> NewerThan(uint64_t known);
  std::vector<HostStatus> List();

 private:
  // Apply the changes: make a new version, write the record and pass
  // quarantines on. Require mutex_.
  void Publish(Duration now, const std::vector<NodeMemory::Change>& changes,
               std::function<void()> kept = nullptr);
  void RefreshIfDue(Duration now);

  const Options options_;
  std::atomic<int> nodes_ = 0;
  std::atomic<uint64_t> number_ = 0;
  // When the decay may next change a state, in nanoseconds since 1970.
  std::atomic<int64_t> due_;

  std::mutex mutex_;
  NodeMemory memory_;
  std::shared_ptr<const HostView> view_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_HOST_WATCH_H_
