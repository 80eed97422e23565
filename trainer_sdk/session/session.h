#ifndef MUSTER_TRAINER_SDK_SESSION_SESSION_H_
#define MUSTER_TRAINER_SDK_SESSION_SESSION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/progress/progress.h"
#include "trainer_sdk/session/session_plan.h"
#include "trainer_sdk/store/store.h"

namespace muster {

class StoreServer;

struct SessionOptions {
  // How long the world's store may take to be there, and the other ranks to
  // join where the launcher leaves something to agree on.
  Duration connect_timeout = std::chrono::minutes(5);
  // How long rank 0, where it serves the store, waits at its end for the other
  // ranks to be done with it.
  Duration linger = std::chrono::seconds(10);
};

// This process's place in the world, its store and its line to the agent: what
// a worker begins with, whoever launched it.
//
//   absl::StatusOr<std::unique_ptr<Session>> session =
//       Session::FromEnvironment();
//   if (!session.ok()) { ... print session.status(), exit ... }
//   (*session)->progress().Send({.step = 1, .loss = 2.31});
//
// Thread-safe once made. Make one a process, and end it last: the destructor
// tells the other ranks, and rank 0, where it serves the store, waits for them.
class Session {
 public:
  // Under `launch`, torchrun, mpirun, srun, or alone: see PlanSession.
  //   InvalidArgument   the environment is contradictory; what to set
  //   AlreadyExists     rank 0 is to serve the store, and the port is taken
  //   DeadlineExceeded  the store, or a rank, is not there: who and where
  //   FailedPrecondition  something else than a store is at its address
  static absl::StatusOr<std::unique_ptr<Session>> FromEnvironment(
      const SessionOptions& options = {});

  // The same for a plan made elsewhere.
  static absl::StatusOr<std::unique_ptr<Session>> Start(
      const SessionPlan& plan, const SessionOptions& options = {});

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank() const { return plan_.rank; }
  int world_size() const { return plan_.world_size; }
  int local_rank() const { return plan_.local_rank; }
  int local_world_size() const { return *plan_.local_world_size; }
  // Which of the world's nodes this is, and of how many.
  int group_rank() const { return *plan_.group_rank; }
  int group_world_size() const { return *plan_.group_world_size; }
  // How often the world's workers were started again.
  int restart_count() const { return plan_.restart_count; }
  // All of the above and more; nothing in it is left open.
  const SessionPlan& plan() const { return plan_; }

  // The store of this world and this round: no other run, restart or round
  // sees its keys. May outlive the session only where rank 0 does not serve it.
  const std::shared_ptr<Store>& store() const { return store_; }

  Progress& progress() { return progress_; }

 private:
  Session(SessionPlan plan, const SessionOptions& options);

  absl::Status OpenStore(Instant deadline);
  absl::Status CompletePlace(Instant deadline);
  void Leave();

  SessionPlan plan_;
  const Duration linger_;
  Progress progress_;
  std::unique_ptr<StoreServer> server_;
  std::shared_ptr<Store> store_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_SESSION_H_
