#ifndef MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_
#define MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Tells the ranks of a group that one of them gave up, or that their round is
// over, because NCCL does not. The alarm is a key of the group's store. The key
// is read only after SetPolling(kOn), once per second, because all ranks query
// one server. Thread-safe.
class GroupAlarm {
 public:
  // `on_alarm` is called at most once, on a thread of this object's own and
  // never after its destruction. Its argument is a peer's cause with the code
  // of that cause, or Unavailable if the store is gone, which means that the
  // round is over. `on_alarm` must not block or call this object.
  GroupAlarm(GroupPlace place, std::function<void(absl::Status)> on_alarm);
  // Waits briefly until a raised cause is published. If the store does not
  // answer, only the thread stays blocked, not the destructor.
  ~GroupAlarm();
  GroupAlarm(const GroupAlarm&) = delete;
  GroupAlarm& operator=(const GroupAlarm&) = delete;

  // OK, or ResourceExhausted: the system has no thread for the alarm.
  absl::Status status() const { return status_; }

  // Publishes the reason why this rank gives up. Does not block; only the first
  // call has an effect.
  void Raise(const absl::Status& cause);

  enum class Polling { kOff, kOn };
  void SetPolling(Polling polling);

 private:
  class Listener;

  const std::shared_ptr<Listener> listener_;  // shared with the alarm's thread
  absl::Status status_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_
