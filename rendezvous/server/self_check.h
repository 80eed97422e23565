#ifndef MUSTER_RENDEZVOUS_SERVER_SELF_CHECK_H_
#define MUSTER_RENDEZVOUS_SERVER_SELF_CHECK_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::rendezvous {

// Decides when a listener connects to itself, and what the results say. A check
// runs only if a probe has asked for one: a listener without probes makes none.
// Pure: time is an argument, which must not decrease.
class SelfCheck {
 public:
  // Time that a check may take.
  static constexpr Duration kTimeout = std::chrono::seconds(5);
  // Least time between the starts of two checks.
  static constexpr Duration kInterval = std::chrono::seconds(2);
  // Failed checks in a row after which the listener counts as dead.
  static constexpr int kMaxFailures = 2;
  // The listener also counts as dead if it has not ended a check that was asked
  // for within this time: its thread stands still.
  static constexpr Duration kMaxDelay = std::chrono::seconds(15);

  // A probe asks. Returns OK or, in one line, why the listener is dead.
  absl::Status Ask(Instant now);
  // Whether a check is to be started now.
  bool IsDue(Instant now) const;
  void Started(Instant now);
  void Answered();
  // `why`: the end of the sentence "the listener does not answer: ".
  void Failed(const std::string& why);
  // When the running check has to be ended with Failed, or the next one
  // started. nullopt: a probe must ask first.
  std::optional<Instant> NextDeadline() const;

 private:
  std::optional<Instant> asked_;    // the oldest request without a result
  std::optional<Instant> running_;  // start of the check that is running
  std::optional<Instant> last_;     // start of the newest check
  int failures_ = 0;                // in a row
  std::string why_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_SELF_CHECK_H_
