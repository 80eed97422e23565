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

// A coordinator's memory of the faults of machines (NodeMemory), which all of
// its jobs share. Adds the clock, keeps the memory in the journal, and calls
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
    // Stores the memory of the machines' faults; null: it is not stored.
    RecordStore* records = nullptr;
    // The machines' faults, and the operators' orders about machines, that an
    // earlier coordinator has stored.
    NodeMemory::Kept kept;
    Quarantine quarantine = Quarantine::kOn;
    // Called for each quarantine; must not block. May be empty.
    std::function<void(const Notice&)> on_quarantine;
    // The wall clock: the time since 1970.
    std::function<Duration()> clock;
  };
  explicit HostWatch(Options options);

  // NodeCame and NodeLeft count the nodes that are connected to the
  // coordinator. Only a certain part of them may be quarantined at a time.
  void NodeCame() { ++nodes_; }
  void NodeLeft() { --nodes_; }

  void Record(const std::vector<HostFault>& faults);
  // Free and Ban call the functions of NodeMemory with the same names. If the
  // call succeeds and there is a record store, the store calls `kept` once,
  // when the change is durable or the store gives up (RecordStore::Put).
  absl::Status Free(const std::string& host, const std::string& by,
                    std::function<void()> kept = nullptr);
  absl::Status Ban(const std::string& host, const std::string& reason,
                   std::function<void()> kept = nullptr);

  // One version of the HostView, which contains the suspected, quarantined and
  // banned machines. Each change makes a new version with the next number.
  struct Version {
    uint64_t number = 0;
    std::shared_ptr<const HostView> view;
    // The remembered machines that are handed over to the next coordinator
    // (Handover::machines), serialised: at most kMaxHandedOver machines, banned
    // ones first, then those with the highest scores.
    std::shared_ptr<const std::string> machines;
  };
  // Returns the newest version; nullopt: the caller has this version already,
  // because its number is `known`. O(1) unless a machine's state has changed.
  std::optional<Version> NewerThan(uint64_t known);
  std::vector<HostStatus> List();
  // Replaces the memory by `machines`, which an earlier coordinator has handed
  // over (Version::machines). on_quarantine is not called for its quarantines.
  // InvalidArgument, DataLoss: the bytes are damaged; the memory is unchanged.
  absl::Status Inherit(const std::string& machines);

 private:
  static constexpr size_t kMaxHandedOver = 32;

  // Publish makes a new version, writes the record, and calls on_quarantine for
  // each new quarantine in `changes`. RefreshIfDue calls NodeMemory::Refresh if
  // due_ has passed, and publishes the changes. Both require mutex_.
  void Publish(Duration now, const std::vector<NodeMemory::Change>& changes,
               std::function<void()> kept = nullptr);
  void RefreshIfDue(Duration now);
  // Sets view_, machines_ and due_ from memory_. Requires mutex_.
  void Show(Duration now);

  const Options options_;
  std::atomic<int> nodes_ = 0;
  std::atomic<uint64_t> number_ = 0;
  // The time in nanoseconds since 1970 at which the decay of the scores may
  // next change a machine's state.
  std::atomic<int64_t> due_;

  std::mutex mutex_;
  NodeMemory memory_;
  // The newest version, except its number. Show sets both.
  std::shared_ptr<const HostView> view_;
  std::shared_ptr<const std::string> machines_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_HOST_WATCH_H_
