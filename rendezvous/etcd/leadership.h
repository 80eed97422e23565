#ifndef MUSTER_RENDEZVOUS_ETCD_LEADERSHIP_H_
#define MUSTER_RENDEZVOUS_ETCD_LEADERSHIP_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace muster::rendezvous {

// Returns the epoch of a new leader. `newest`: the epoch of the newest leader
// that the store knows; 0: none. `unix_ms`: this process's wall clock, in
// milliseconds since 1970. The epoch exceeds all earlier ones even if this
// clock is behind, or if somebody has removed the election's keys from the
// store.
uint64_t NextEpoch(uint64_t newest, uint64_t unix_ms);

// One candidate's view of an election in a shared store: decides which request
// the candidate sends next, and whether the candidate leads. Pure. Not
// thread-safe.
//
// The store has one lock. A leader renews the lock every `renew_every`. A
// standby reads the lock as often. It claims the lock when the lock is free or
// has not changed for `takeover_after()`. The claim succeeds only if the lock
// is still as the standby has read it.
//
// At most one candidate leads at a time. A leader's lease begins when the
// leader sends a claim or renewal, and counts only if that request succeeds. A
// standby sees the success later, and waits for `takeover_after()` from then
// on. This is 5/4 of `lease`, so clock rates may differ by a fifth.
//
// A leader process may be suspended, and resume after its lease is over.
// Therefore each of its writes must also name its term. The store refuses the
// write if the term is over.
class Leadership {
 public:
  struct Limits {
    Duration renew_every = std::chrono::milliseconds(200);
    Duration lease = std::chrono::milliseconds(1000);
    // How long a standby waits for a renewal. Longer than the lease, because
    // the clocks of the leader and of the standby may differ in rate.
    Duration takeover_after() const;
  };

  // The state of the lock in the store. A claim sets `holding` to a new value,
  // and a renewal sets `renewal` to a new value. A new value is one that the
  // field never had before.
  struct Lock {
    int64_t holding = 0;  // term of the leader, which holds the lock; 0: none
    int64_t renewal = 0;  // number of the lock's newest renewal
    bool operator==(const Lock&) const = default;
  };

  enum class Stage { kStandby, kLeading, kOver };
  enum class Request {
    kNone,
    kRead,
    kClaim,  // take the lock if it has not changed since the last read
    kRenew,  // renew the lock if this candidate still holds it
  };

  explicit Leadership(const Limits& limits) : limits_(limits) {}

  // Returns the request to send now; kNone: no request is due, or a request is
  // still in flight. When a request has ended, the caller must call one of the
  // On… functions below.
  Request Next(Instant now);
  // The time at which the result of Next or Leads may change without an event;
  // nullopt: never.
  std::optional<Instant> NextDeadline() const;

  void OnRead(Instant now, const Lock& lock);
  // The claim succeeded: this candidate now leads the term `term`.
  void OnClaimed(int64_t term);
  void OnRenewed();
  // The claim or renewal was refused: the lock was not as the request expected.
  void OnRefused();
  // The request that Next returned got no answer. The lock's store (etcd) may
  // or may not have carried it out.
  void OnFailed(Instant now);

  // Whether this candidate leads and may send directives. Stays false once a
  // leadership has ended.
  bool Leads(Instant now) const {
    return stage_ == Stage::kLeading && now < leads_until_;
  }
  // Returns the stage; kOver: the leadership has ended. Only Next and OnRefused
  // end a leadership.
  Stage stage() const { return stage_; }
  const Lock& seen() const { return *seen_; }
  int64_t term() const { return term_; }
  // The end of the lease: the leader may send directives until then without
  // another renewal.
  Instant leads_until() const { return leads_until_; }

 private:
  const Limits limits_;
  Stage stage_ = Stage::kStandby;
  Request in_flight_ = Request::kNone;
  Instant sent_;  // when the newest request was sent
  Instant due_;   // when to send the next read or renewal
  int64_t term_ = 0;
  Instant leads_until_;
  // The state of the lock when this standby last read it; nullopt: the standby
  // must read the lock before it can claim the lock.
  std::optional<Lock> seen_;
  // Time since which the lock has not changed, as far as this standby has seen.
  Instant seen_since_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_LEADERSHIP_H_
