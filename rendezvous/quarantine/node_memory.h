#ifndef MUSTER_RENDEZVOUS_QUARANTINE_NODE_MEMORY_H_
#define MUSTER_RENDEZVOUS_QUARANTINE_NODE_MEMORY_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/protocol/node_fault.h"

namespace muster::rendezvous {

// The faults of all machines that a coordinator uses, over all jobs, and which
// machines are quarantined because of them. Pure; not thread-safe.
//
// The score of a machine is the sum of its faults' weights. The kind of a fault
// determines its weight (WeightOf), which halves every kHalfLife.
//
// Faults of workers with the same rank, in all jobs, add up to at most
// kMaxOfOneRank, which is less than kQuarantineAt. So a program that always
// fails on rank 0 cannot quarantine the machine of rank 0. A faulty machine
// fails with several ranks, or with other kinds of faults.
//
// If workers of one job fail in the same way (signature) on two machines, the
// machines are not the cause, and these faults are void. The same is true if
// the job's health checks fail with the same text on two machines.
//
// A machine whose score reaches kSuspectAt is suspected. If the score reaches
// kQuarantineAt, the machine is quarantined until the score has fallen below
// kReleaseAt. At most 1 / kShare of the nodes, but at least one, may be
// quarantined at a time. Further machines stay suspected until there is room.
// So a fault that hits many machines at once, such as a failing file system,
// does not put a large part of a cluster out of use.
//
// All times `now` are wall clock times since 1970, because the memory survives
// restarts. A fault whose time lies in the future counts as if it occurred now.
//
// Unless noted, a call costs O(number of remembered machines). At most
// kMaxHosts machines with kMaxFaults faults each are remembered. Beyond that,
// the machines with the lowest scores are forgotten.
class NodeMemory {
 public:
  static constexpr Duration kHalfLife = std::chrono::hours(6);
  static constexpr double kSuspectAt = 0.75;
  static constexpr double kQuarantineAt = 2.5;
  static constexpr double kReleaseAt = 1.25;
  static constexpr double kMaxOfOneRank = 2;
  static constexpr int kShare = 10;
  static constexpr size_t kMaxHosts = 512;
  static constexpr size_t kMaxBans = kMaxHosts / 2;
  static constexpr size_t kMaxFaults = 8;

  explicit NodeMemory(Quarantine quarantine = Quarantine::kOn)
      : quarantine_(quarantine) {}

  static double WeightOf(FaultKind kind);

  // A change of a machine's state, or of the reason of a quarantine or ban.
  struct Change {
    HostKey key;
    HostJudgement before;
    HostJudgement after;
  };

  // Records a fault. `nodes`: the number of nodes that are connected to the
  // coordinator; at most 1 / kShare of them may be quarantined. Returns the
  // machines whose state has changed.
  std::vector<Change> Record(Duration now, int nodes, HostFault fault);
  // Updates the machines' states from their scores, which have decayed since
  // the last call. Returns the machines whose state has changed.
  std::vector<Change> Refresh(Duration now, int nodes);
  // The time at which a call of Refresh may first change the state of a machine
  // (such as quarantined); nullopt: without a new fault no state will change.
  std::optional<Duration> NextChange(Duration now) const;

  // Lifts the ban of the host name. The faults so far of every machine with
  // this name count no more, even if an agent reports them again. `by`: the
  // operator; empty: unknown. NotFound: no machine of that name is remembered.
  absl::Status Free(Duration now, const std::string& host,
                    const std::string& by);
  // Bans the host name, whatever its address. ResourceExhausted: kMaxBans
  // hosts are banned.
  absl::Status Ban(Duration now, const std::string& host,
                   const std::string& reason);

  // The machines that are suspected, quarantined or banned. With
  // Quarantine::kOff, also the healthy machines that would be suspected with
  // kOn.
  HostView View(Duration now) const;
  // The remembered machines: the banned ones first, then by falling score.
  // Leaves out healthy machines if none of their faults counts against the
  // machine (Kept::Fault::is_void).
  std::vector<HostStatus> List(Duration now) const;
  int quarantined() const;

  // The remembered machines, with their faults and operators' orders, as a
  // journal stores them.
  struct Kept {
    struct Fault {
      HostFault fault;
      Duration when = Duration::zero();
      // Whether the fault counts against no machine: the program is known to be
      // the cause, or an operator has freed the machine since.
      bool is_void = false;
    };
    struct Host {
      HostKey key;
      HostState state = HostState::kHealthy;
      // Time of an operator's last order to free or ban the machine; zero: no
      // order. `order`: who freed the machine, or the reason of the ban.
      Duration ordered_at = Duration::zero();
      std::string order;
      std::vector<Fault> faults;  // the machine's faults, oldest first
    };
    std::vector<Host> hosts;
  };
  Kept Keep() const;
  // Returns `most` of them for the next coordinator: the banned ones first,
  // then by falling score, then those with the newest fault or order.
  Kept KeepWorst(Duration now, size_t most) const;
  // Replaces the memory by `kept`. Drops machines and faults beyond kMaxHosts
  // and kMaxFaults. With Quarantine::kOff no machine stays quarantined.
  void Restore(Kept kept);

 private:
  using Fault = Kept::Fault;
  using Host = Kept::Host;

  static double ScoreOf(const Host& host, Duration now);
  static HostJudgement JudgementOf(const Host& host, Duration now);
  // Whether View lists `host` although it is healthy. With Quarantine::kOff,
  // View also lists machines that would be suspected with kOn.
  bool IsShown(const Host& host, Duration now) const;
  // Makes every suspected or quarantined machine healthy.
  void Trust();
  // Declares `fault` and all faults like it (same job and kind; same signature
  // or text) void, if they have occurred on two machines.
  void Acquit(const HostFault& fault);
  // Sets the machines' states by their scores. Quarantines at most 1 / kShare
  // of the nodes.
  void Judge(Duration now, int nodes);
  // Removes old faults, machines about which nothing is remembered any more,
  // and, beyond kMaxHosts, the machines with the lowest scores. Banned machines
  // stay.
  void Bound(Duration now);
  // Returns how the machines' states and reasons have changed since `before`.
  std::vector<Change> ChangesSince(const HostView& before, Duration now) const;

  Quarantine quarantine_;
  std::map<HostKey, Host> hosts_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_QUARANTINE_NODE_MEMORY_H_
