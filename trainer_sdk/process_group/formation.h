#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_FORMATION_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_FORMATION_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// One rank's part in forming a group. A rank that fails writes the cause of its
// failure into the group's store. Every rank watches the store for such a
// cause. A rank that finds a cause ends its own blocked calls:
// - calls of its FormingStore
// - polls that include wake_fd()
// - calls for which there is a FormationReaction
// Thread-safe.
class Formation : public std::enable_shared_from_this<Formation> {
 public:
  // Starts a thread that watches the store for a failure of any rank. `store`
  // holds the keys of this group only, including the keys of FailureRecord, and
  // must not be a FormingStore. The thread ends at `deadline` or soon after
  // End, which the caller must call. ResourceExhausted: the system has no
  // thread left.
  static absl::StatusOr<std::shared_ptr<Formation>> Begin(
      std::shared_ptr<Store> store, int rank, Instant deadline);

  // Interrupts the formation: reports `cause` to the other ranks and ends the
  // waits of this rank. Has no effect once the formation has ended.
  void Interrupt(const absl::Status& cause);

  // Reports that this rank failed with `mine`, and returns the group's cause.
  // If another cause is already known, only returns that cause. Call Fail
  // before closing connections: a peer that sees a closed connection looks for
  // the cause.
  absl::Status Fail(const absl::Status& mine);

  // Ends the formation. Call it when the group has been made, or when its
  // creation has failed. After End, no call is interrupted.
  void End();

  // OK, or the cause for which the formation was interrupted.
  absl::Status status() const;
  bool ended() const;
  // A file descriptor that becomes readable once status() is not OK; -1 if the
  // system had no descriptor left.
  int wake_fd() const;

  // Runs `call` on a thread of its own and waits for it. The thread may outlive
  // this object, so `call` must own all that it uses. If the formation is
  // interrupted first, returns status(). If `call` is not finished about two
  // seconds after the deadline, returns DeadlineExceeded.
  absl::Status Do(std::function<void()> call);

 private:
  friend class FormationReaction;
  using Act = std::function<void(const absl::Status& cause)>;

  Formation(std::shared_ptr<Store> store, int rank, Instant deadline);
  void Watch();
  // Ends the calls of this rank that are blocked until the group is formed, and
  // makes them fail with `cause`.
  void GiveUp(const absl::Status& cause);

  const std::shared_ptr<Store> store_;
  const int rank_;
  const Instant deadline_;
  const FailureRecord record_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // mutex_ guards the members from wake_ to reactions_.
  OwnedFd wake_;
  absl::Status cause_;
  // the cause that the first call of Fail returned; OK before that call
  absl::Status failed_;
  bool ended_ = false;
  std::list<Act> reactions_;
};

// Calls `act` once if the formation is interrupted while this object lives. If
// the formation was interrupted before, the constructor calls `act`. Otherwise
// `act` runs on the thread that interrupts the formation or detects the
// interruption. `act` must not use the formation, because its mutex is held. If
// the formation is null, `act` is never called.
class FormationReaction {
 public:
  FormationReaction(std::shared_ptr<Formation> formation,
                    std::function<void(const absl::Status& cause)> act);
  // After the destructor returns, the function `act` that was passed to the
  // constructor is not running and will not be called.
  ~FormationReaction();
  FormationReaction(const FormationReaction&) = delete;
  FormationReaction& operator=(const FormationReaction&) = delete;

 private:
  const std::shared_ptr<Formation> formation_;
  std::list<Formation::Act>::iterator act_;
};

// FormationStatus, FormationWakeFd and FailFormation call status(), wake_fd()
// and Fail(mine) of `place.formation`, and return the result. If
// `place.formation` is null, they return OK, -1 and `mine`. `place.formation`
// is set only while ProcessGroup makes the group's transport.
absl::Status FormationStatus(const GroupPlace& place);
int FormationWakeFd(const GroupPlace& place);
absl::Status FailFormation(const GroupPlace& place, const absl::Status& mine);

// A store that forwards its calls to another store while a group is formed. If
// the formation is interrupted, a blocked call returns the formation's cause at
// once, even if the other store hangs; the other store may still execute the
// call. Once the formation has ended, calls are forwarded directly.
class FormingStore final : public Store {
 public:
  FormingStore(std::shared_ptr<Store> store,
               std::shared_ptr<Formation> formation);

  absl::Status Set(const std::string& key, const std::string& value) override;
  absl::StatusOr<std::string> Get(const std::string& key,
                                  Instant deadline) override;
  absl::Status Wait(const std::vector<std::string>& keys,
                    Instant deadline) override;
  absl::StatusOr<int64_t> Add(const std::string& key, int64_t amount) override;
  absl::StatusOr<std::string> CompareSet(const std::string& key,
                                         const std::string& expected,
                                         const std::string& desired) override;
  absl::StatusOr<bool> Delete(const std::string& key) override;
  absl::StatusOr<bool> Check(const std::vector<std::string>& keys) override;

 private:
  template <typename Result>
  Result Call(std::function<Result(Store& store)> call);
  template <typename Result>
  Result CallUntil(std::function<Result(Store& store, Instant until)> call,
                   Instant deadline);

  const std::shared_ptr<Store> store_;
  const std::shared_ptr<Formation> formation_;
};

// Makes a transport with `factory`. Blocks until the transport is made,
// `deadline` passes, or another rank fails. Uses the Formation in `place`, or
// starts one if `place` has none, and ends it before returning. If one rank
// fails, all ranks that are still forming the group fail at once, with that
// rank's number and cause.
absl::StatusOr<std::unique_ptr<Transport>> FormTransport(
    const TransportFactory& factory, GroupPlace place, Instant deadline);

// Prefixes the message of `status` with the group's name: "group world: ...".
absl::Status NamedAfter(const GroupPlace& place, const absl::Status& status);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_FORMATION_H_
