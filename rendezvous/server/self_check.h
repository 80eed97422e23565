#ifndef MUSTER_RENDEZVOUS_SERVER_SELF_CHECK_H_
#define MUSTER_RENDEZVOUS_SERVER_SELF_CHECK_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::rendezvous {

// Decides when a listener connects to itself as a test, and what the results
// mean. A check runs only if a probe has asked for it. So without probes there
// are no checks. Pure: time is an argument, which must not decrease.
class SelfCheck {
 public:
  // Time limit of one check.
  static constexpr Duration kTimeout = std::chrono::seconds(5);
  // Minimum time between the starts of two checks.
  static constexpr Duration kInterval = std::chrono::seconds(2);
  // Number of failed checks in a row after which the listener counts as dead.
  static constexpr int kMaxFailures = 2;
  // If a requested check has not ended within this time, the listener also
  // counts as dead: its thread is stuck.
  static constexpr Duration kMaxDelay = std::chrono::seconds(15);

  // Handles a probe: requests a check. Returns OK or a one-line reason why the
  // listener counts as dead.
  absl::Status Ask(Instant now);
  // Whether the listener must start a check now.
  bool IsDue(Instant now) const;
  void Started(Instant now);
  void Answered();
  // Records the failure of the running check. `why` completes the sentence "the
  // listener does not answer: ".
  void Failed(const std::string& why);
  // The time for the next action: end the running check with Failed, or start
  // the next one. nullopt: none before a probe asks for a check.
  std::optional<Instant> NextDeadline() const;

 private:
  // The time at which a probe first asked for the check that has not ended yet;
  // nullopt: there is no such check.
  std::optional<Instant> asked_;
  std::optional<Instant> running_;  // when the running check started
  std::optional<Instant> last_;     // when the newest check started
  int failures_ = 0;                // number of failed checks in a row
  std::string why_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_SELF_CHECK_H_
