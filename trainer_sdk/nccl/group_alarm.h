#ifndef MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_
#define MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// How the ranks of a group learn that one of them has given it up, and that
// their round is over, although NCCL tells neither: through a key of the
// group's store. Looks at it only while told to, once a second, since every
// rank asks one server. Thread-safe.
class GroupAlarm {
 public:
  // `on_alarm` is called once at most, from a thread of this object's own and
  // never after its end: with a peer's cause, of the peer's code; or
  // Unavailable when the store is gone, which it is when the round is. It must
  // not call back, nor wait.
  GroupAlarm(GroupPlace place, std::function<void(absl::Status)> on_alarm);
  // Waits a moment for what is still to be told. A store that does not answer
  // keeps the thread, not whoever ends this.
  ~GroupAlarm();
  GroupAlarm(const GroupAlarm&) = delete;
  GroupAlarm& operator=(const GroupAlarm&) = delete;

  // ResourceExhausted where there is no thread to be had.
  absl::Status status() const { return status_; }

  // Tells the peers why this rank gives up, soon and once.
  void Raise(const absl::Status& cause);

  enum class Attention { kAsleep, kLooking };
  void Pay(Attention attention);

 private:
  class Listener;

  const std::shared_ptr<Listener> listener_;  // shared with its thread
  absl::Status status_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_
