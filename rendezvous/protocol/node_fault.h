#ifndef MUSTER_RENDEZVOUS_PROTOCOL_NODE_FAULT_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_NODE_FAULT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::rendezvous {

// The kind of an event that counts against a machine (NodeMemory). The values
// are stored in journals and must never change.
enum class FaultKind {
  kWorker = 1,     // a worker of the machine broke a round (EvidenceIn)
  kLost = 2,       // the node was lost while its workers ran
  kCheck = 3,      // a health check of the machine failed
  kXid = 4,        // the NVIDIA driver reported an error of a GPU
  kStraggler = 5,  // a rank on the machine was persistently slow
};

// Identifies the machine of a node, over all jobs of a coordinator. `host` is
// the host name that the agent reports. `ip` is the address from which the
// agent connects, as the coordinator sees it; empty: the agent runs in the
// coordinator's process. If an agent reports the host name of another machine,
// `ip` differs, so its faults do not count against that machine.
struct HostKey {
  std::string host;
  std::string ip;
  auto operator<=>(const HostKey&) const = default;
};

// Maximum length in bytes of a text about a fault.
inline constexpr size_t kMaxFaultBytes = 200;

// A fault that an agent reports about its own node (Report::faults).
struct NodeFault {
  uint64_t ordinal = 0;  // the agent numbers its faults 1, 2, 3, …
  FaultKind kind = FaultKind::kCheck;  // kCheck or kXid
  std::string text;                    // what happened, in one line
  bool operator==(const NodeFault&) const = default;
};

// Maximum length of Report::faults, which contains the newest faults.
inline constexpr int kMaxNodeFaults = 4;

// A fault that counts against a machine.
struct HostFault {
  HostKey host;
  FaultKind kind = FaultKind::kWorker;
  std::string run_id;  // job in which the fault occurred
  // The global rank of the worker that failed or was slow; -1: a fault of the
  // whole node.
  int rank = -1;
  // For kWorker: the class of the failure, such as "SIGBUS". If the same class
  // occurs on two machines in one job, the program is the cause, and the
  // failures count against no machine.
  std::string signature;
  std::string text;  // what happened, in one line, cut to kMaxFaultBytes
  // For a fault that an agent reported (NodeFault): the agent's incarnation and
  // the number of the fault (NodeFault::ordinal). They identify the fault, so
  // that it counts once even if the agent reports it again. 0: no agent
  // reported the fault.
  uint64_t incarnation = 0;
  uint64_t ordinal = 0;
  bool operator==(const HostFault&) const = default;
};

// How far a machine is trusted. The values are stored in journals and must
// never change.
enum class HostState {
  kHealthy = 0,
  kSuspected = 1,    // used, but a spare machine is preferred to it
  kQuarantined = 2,  // not used while other machines suffice
  kBanned = 3,       // never used: an operator has banned the machine
  kFreed = 4,        // healthy: an operator declared the machine's faults void
};

// Whether machines with many faults lose their places (--quarantine). kOff:
// faults are remembered and shown, but no machine is suspected or quarantined.
// A machine that an operator has banned gets no place with either value.
enum class Quarantine { kOn, kOff };

// The state of a machine with its reason.
struct HostJudgement {
  HostState state = HostState::kHealthy;
  double score = 0;  // decayed sum of the faults' weights
  // The reason of `state`, one line: the newest fault, or the operator's order.
  std::string reason;
  bool operator==(const HostJudgement&) const = default;
};

// The machines that are suspected, quarantined or banned. A ban with an empty
// `ip` is valid for the host name at any address.
using HostView = std::map<HostKey, HostJudgement>;

// A machine, as `launch nodes` lists it.
struct HostStatus {
  HostKey key;
  HostJudgement judgement;
  std::string run_id;  // job of the newest fault; empty: none
  int faults = 0;      // number of remembered faults
  // Time since the newest fault, or since the operator's order if that is
  // newer.
  Duration age = Duration::zero();
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_NODE_FAULT_H_
