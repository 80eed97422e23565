#ifndef MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_
#define MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// How the ranks of a group learn that one of them has given it up, and that
// their round is over, although NCCL tells neither: through a key of the
// group's store. Looks at it only while told to, once a second, since every
// rank asks one server. Thread-safe.
class GroupAlarm {
 public:
  // `on_alarm` is called once at most, from a thread of this object's own:
  // with a peer's cause, of the peer's code; or Unavailable when the store is
  // gone, which it is when the round is.
  GroupAlarm(GroupPlace place, std::function<void(absl::Status)> on_alarm);
  ~GroupAlarm();
  GroupAlarm(const GroupAlarm&) = delete;
  GroupAlarm& operator=(const GroupAlarm&) = delete;

  // Tells the peers why this rank gives up, soon and once.
  void Raise(const absl::Status& cause);

  enum class Attention { kAsleep, kLooking };
  void Pay(Attention attention);

 private:
  void Loop();
  // What the peers said, if anything.
  absl::Status Look();

  const GroupPlace place_;
  const std::function<void(absl::Status)> on_alarm_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Attention attention_ = Attention::kAsleep;  // guarded by mutex_
  std::optional<absl::Status> to_raise_;      // guarded by mutex_
  bool raised_ = false;                       // guarded by mutex_
  bool ending_ = false;                       // guarded by mutex_
  std::thread thread_;                        // last: it uses all of these
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_GROUP_ALARM_H_
