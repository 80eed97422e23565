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

namespace muster::store {
class StoreServer;
}  // namespace muster::store

namespace muster {

struct SessionOptions {
  // The longest time to wait for the world's store. If the launcher does not
  // provide the positions of the hosts, this time also limits the wait for the
  // other ranks.
  Duration connect_timeout = std::chrono::minutes(5);
  // The longest time for which the destructor waits for the other ranks to
  // finish using the store. Only a rank 0 that serves the store waits.
  Duration linger = std::chrono::seconds(10);
};

// A training process's connection to its launcher (Muster, torchrun, mpirun,
// Slurm or none). Provides the process's rank, the store that all ranks share,
// and progress reports. Create it at the start of main.
//
//   absl::StatusOr<std::unique_ptr<Session>> session =
//       Session::FromEnvironment();
//   if (!session.ok()) { ... print session.status(), exit ... }
//   (*session)->progress().Send({.step = 1, .loss = 2.31});
//
// Thread-safe after construction. Make one session per process and destroy it
// last: the destructor notifies the other ranks and, on a rank 0 that serves
// the store, waits for the other ranks.
class Session {
 public:
  // Starts a session under `launch`, torchrun, mpirun or srun, or as a world of
  // one; see PlanSession. Blocks until the store is reachable.
  //   InvalidArgument     the environment is contradictory; the message says
  //                       what to set
  //   AlreadyExists       rank 0 must serve the store, and the port is in use
  //   DeadlineExceeded    the store or a rank cannot be reached; the message
  //                       names the store or the rank
  //   FailedPrecondition  a service that is not a store is at the address, or
  //                       the agent did not pass the key of --encrypt=workers
  static absl::StatusOr<std::unique_ptr<Session>> FromEnvironment(
      const SessionOptions& options = {});

  // Starts a session with the given plan. Blocks, and has the same errors as
  // FromEnvironment.
  static absl::StatusOr<std::unique_ptr<Session>> Start(
      const SessionPlan& plan, const SessionOptions& options = {});

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank() const { return plan_.rank; }
  int world_size() const { return plan_.world_size; }
  int local_rank() const { return plan_.local_rank; }
  int local_world_size() const { return *plan_.local_world_size; }
  // The index of this node in the world (group_rank), and the number of nodes
  // (group_world_size).
  int group_rank() const { return *plan_.group_rank; }
  int group_world_size() const { return *plan_.group_world_size; }
  // The number of times that the world's workers were restarted.
  int restart_count() const { return plan_.restart_count; }
  // All values that describe this process's place in the world. Every optional
  // field of the plan is set.
  const SessionPlan& plan() const { return plan_; }

  // The store that all ranks of this world share. Sessions of another job,
  // restart or round do not see the keys of this world. The store may outlive
  // the session, unless rank 0 serves it.
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
  std::unique_ptr<store::StoreServer> server_;
  std::shared_ptr<Store> store_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_SESSION_H_
