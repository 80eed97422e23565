#ifndef MUSTER_RENDEZVOUS_ETCD_LEADER_ELECTION_H_
#define MUSTER_RENDEZVOUS_ETCD_LEADER_ELECTION_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "rendezvous/etcd/etcd_client.h"
#include "rendezvous/etcd/etcd_records.h"
#include "rendezvous/etcd/leadership.h"
#include "rendezvous/etcd/trouble_filter.h"

namespace muster::rendezvous {

// This process's part in the election of one leader among the coordinators that
// share an etcd prefix: stands by, leads one term at most, and is then over
// (Leadership). Owns one thread. Thread-safe.
class LeaderElection {
 public:
  struct Options {
    std::string self;  // this process, for people: "HOST, process PID"
    Leadership::Limits limits;
    // Receives whole sentences, from the election's thread.
    std::function<void(const std::string& sentence)> say;
  };
  enum class Stage { kStandby, kLeading, kOver };

  // Reads the keys of the election once, to find mistakes of configuration.
  // Errors, one sentence: Unauthenticated, PermissionDenied,
  // FailedPrecondition: as EtcdClient; or a newer Muster uses the prefix. An
  // etcd that does not answer is no error. Blocks for 2 s at most, and for the
  // look-up of a name.
  static absl::Status Check(EtcdClient* client);

  // Stands by from now on, whatever etcd answers. `client` must outlive the
  // object. ResourceExhausted: no thread or descriptor is left.
  static absl::StatusOr<std::unique_ptr<LeaderElection>> Begin(
      EtcdClient* client, Options options);
  // Gives the lock back if this process leads, so that a standby leads at once.
  ~LeaderElection();

  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  Stage stage() const;
  // Whether this process leads at this moment and may give orders. Unlike
  // stage(), it does not depend on the election's thread, which begins to run
  // at the same time as the caller if the process was stopped. A leadership
  // that it finds to be over is over: stage() is kOver then.
  bool Leads();
  // From kLeading on.
  EtcdTerm term() const;
  // The other process that leads; empty: none is known.
  std::string leader() const;
  // A descriptor that is readable after each change of stage() and leader(),
  // until Drain.
  int changed_fd() const { return changed_fd_.get(); }
  void Drain();

 private:
  // The election's keys as the newest read has found them.
  struct Seen {
    Leadership::Lock lock;
    std::string leader;
    uint64_t epoch = 0;
  };

  LeaderElection(EtcdClient* client, Options options);
  // FailedPrecondition: the keys are not those of this version.
  static absl::StatusOr<Seen> Read(EtcdClient* client, Instant deadline);
  std::string Key(const char* name) const;
  void Run();
  // Sends the request that is due, and tells the core the answer.
  void Perform(Leadership::Request request);
  void Claim(Instant deadline);
  void Renew(Instant deadline);
  void Fail(const absl::Status& status);
  // Publishes the core's stage.
  void Publish();
  // Publishes `stage`. Requires mutex_.
  void Publish(Stage stage);

  EtcdClient* const client_;
  const Options options_;
  OwnedFd changed_fd_;
  // Used on thread_ only:
  Leadership core_;
  Seen seen_;
  uint64_t epoch_ = 0;
  TroubleFilter troubles_;

  mutable std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  bool closing_ = false;
  Stage stage_ = Stage::kStandby;
  Instant leads_until_;  // a copy of the core's
  EtcdTerm term_;
  std::string leader_;
  std::thread thread_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_LEADER_ELECTION_H_
