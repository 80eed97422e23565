#ifndef MUSTER_RENDEZVOUS_JOB_PAIR_CHECKS_H_
#define MUSTER_RENDEZVOUS_JOB_PAIR_CHECKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/network_check/network_check.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/pair_check.h"

namespace muster::rendezvous {

// When a job's nodes are checked by pairs (--network-check), and the check
// before the next round. Pure. A new coordinator begins a new check, which is
// due if it knows so from the job's record or from an earlier coordinator
// (JobRecord::check_is_due, Handover::check_is_due).
class PairChecks {
 public:
  // Begins with the job: a check is due before the first round, unless `when`
  // is kNever.
  void Begin(NetworkCheckTime when) {
    when_ = when;
    is_first_due_ = when != NetworkCheckTime::kNever;
  }
  // Whether the nodes must be checked before the next round.
  bool is_due() const { return is_first_due_ || is_suspicious_; }
  // Makes a check due before the next round, because the network or a node may
  // be bad. Returns whether no check was due; false also unless the job runs
  // with kSuspicion.
  bool Suspect();
  // The job has had a round, so the check before the first round is not due.
  void SkipFirst() { is_first_due_ = false; }
  // A round begins: ends the check before it, and no check is due.
  void End();

  // The check before the next round; null: it has not begun.
  const NetworkCheck* current() const { return check_ ? &*check_ : nullptr; }
  NetworkCheck* current() { return check_ ? &*check_ : nullptr; }
  // Begins the check that is due, or its next round: pairs nodes of `present`.
  // Returns false if no further measurement is needed or possible. No round of
  // the check may be in progress.
  bool BeginRound(Instant now,
                  const std::vector<NetworkCheck::Participant>& present);
  // Records what a node has measured (Report::measurement). `epoch`: this
  // coordinator's epoch. Ignores measurements that an earlier coordinator has
  // ordered.
  void Take(const std::string& node_id,
            const std::optional<PairMeasurement>& measured, uint64_t epoch);

 private:
  NetworkCheckTime when_ = NetworkCheckTime::kNever;
  bool is_first_due_ = false;
  bool is_suspicious_ = false;
  std::optional<NetworkCheck> check_;
  // number of the newest measurement (PairCheck::number)
  uint64_t measurements_ = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_PAIR_CHECKS_H_
