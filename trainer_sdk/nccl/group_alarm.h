#ifndef MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_
#define MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Notifies the ranks of a group that one of them has failed, or that their
// round is over. NCCL itself does not notify them. The alarm is a key of the
// group's store. All ranks query one server, so to save load the key is polled
// only once per second, and only after SetPolling(kOn). Thread-safe.
class GroupAlarm {
 public:
  // `on_alarm` is called at most once, on this object's own thread, and never
  // after the destructor has returned. Its argument is the status that a peer
  // passed to Raise, with the peer's rank added to the message. If the store
  // cannot be read, the round is over, and the argument is Unavailable.
  // `on_alarm` must not block or call this object.
  GroupAlarm(GroupPlace place, std::function<void(absl::Status)> on_alarm);
  // If Raise was called, waits up to two seconds until its argument is in the
  // store. If the store does not answer within this time, the alarm's thread
  // keeps running until the store answers.
  ~GroupAlarm();
  GroupAlarm(const GroupAlarm&) = delete;
  GroupAlarm& operator=(const GroupAlarm&) = delete;

  // OK, or ResourceExhausted: the system could not start the alarm's thread.
  absl::Status status() const { return status_; }

  // Publishes `cause`, the reason why this rank leaves the group. Does not
  // block; only the first call has an effect.
  void Raise(const absl::Status& cause);

  enum class Polling { kOff, kOn };
  void SetPolling(Polling polling);

 private:
  class Listener;

  // state that is shared with the alarm's thread
  const std::shared_ptr<Listener> listener_;
  absl::Status status_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_
