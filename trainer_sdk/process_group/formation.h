#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_FORMATION_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_FORMATION_H_

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// One rank's part in the making of a group, which any rank may fail at. Who
// fails writes its cause into the group's store; every rank watches for that,
// and whatever it waits for ends then: calls of its FormingStore, polls that
// include wake_fd(), and what a FormationReaction ends. Thread-safe.
class Formation : public std::enable_shared_from_this<Formation> {
 public:
  // `store`: the group's own keys, of which the FailureRecord's is used, not a
  // FormingStore. The watch ends at `deadline` or soon after End, which must
  // come. ResourceExhausted: there is no thread for it.
  static absl::StatusOr<std::shared_ptr<Formation>> Begin(
      std::shared_ptr<Store> store, int rank, Instant deadline);

  // Gives up: tells the others and ends what is waited for here with `cause`,
  // unless it has ended with another.
  void Interrupt(const absl::Status& cause);

  // For a rank that fails, before it takes down what its peers might see go:
  // tells them `mine`, unless another cause is known. The group's cause.
  absl::Status Fail(const absl::Status& mine);

  // The group is made, or was given up: from now on nothing interrupts.
  void End();

  // OK, or why the formation is given up.
  absl::Status status() const;
  bool ended() const;
  // Readable once status() is not OK; -1 where the system had no descriptor.
  int wake_fd() const;

  // Does `call` on a thread of its own, which may outlast this: so `call` owns
  // all it uses. Status() where the formation is given up before it is done,
  // DeadlineExceeded a little after the deadline.
  absl::Status Do(std::function<void()> call);

 private:
  friend class FormationReaction;
  using Act = std::function<void(const absl::Status& cause)>;

  Formation(std::shared_ptr<Store> store, int rank, Instant deadline);
  void Watch();
  // Ends what is waited for here.
  void GiveUp(const absl::Status& cause);

  const std::shared_ptr<Store> store_;
  const int rank_;
  const Instant deadline_;
  const FailureRecord record_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  OwnedFd wake_;
  absl::Status cause_;
  absl::Status failed_;  // what Fail said
  bool ended_ = false;
  std::list<Act> reactions_;
};

// While it lives, `act` is called as soon as the formation is given up, by the
// thread that does so or finds out, once. It must not use the formation. A null
// formation is never given up.
class FormationReaction {
 public:
  FormationReaction(std::shared_ptr<Formation> formation,
                    std::function<void(const absl::Status& cause)> act);
  // After this `act` is not running either.
  ~FormationReaction();
  FormationReaction(const FormationReaction&) = delete;
  FormationReaction& operator=(const FormationReaction&) = delete;

 private:
  const std::shared_ptr<Formation> formation_;
  std::list<Formation::Act>::iterator act_;
};

// The same of a place, which has a formation only while ProcessGroup makes its
// transport: OK, -1 and `mine` without one.
absl::Status FormationStatus(const GroupPlace& place);
int FormationWakeFd(const GroupPlace& place);
absl::Status FailFormation(const GroupPlace& place, const absl::Status& mine);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_FORMATION_H_
