#ifndef MUSTER_RENDEZVOUS_ETCD_LEADER_ELECTION_H_
#define MUSTER_RENDEZVOUS_ETCD_LEADER_ELECTION_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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

namespace muster::rendezvous {

// Rate limit for log messages about a call that is repeated several times a
// second. If etcd is down for days, the log does not fill. Admits each text
// once a minute, and at most kMaxTexts texts a minute. Pure.
class TroubleFilter {
 public:
  static constexpr Duration kInterval = std::chrono::minutes(1);
  static constexpr size_t kMaxTexts = 8;

  // Returns whether to log `text` at `now`, which must not decrease.
  bool Admit(Instant now, const std::string& text) {
    std::erase_if(
        told_, [&](const auto& one) { return now - one.second >= kInterval; });
    if (told_.size() >= kMaxTexts) return false;
    return told_.emplace(text, now).second;
  }

 private:
  // Key: a text that was logged in the last minute; value: when it was logged.
  std::map<std::string, Instant> told_;
};

// This process's part in the election of one leader among the coordinators that
// share an etcd prefix. An object stands by, then leads for one term at most;
// after the term it can only be destroyed (see Leadership). Owns one thread.
// Thread-safe.
class LeaderElection {
 public:
  struct Options {
    std::string self;  // name of this process: "HOST, process PID"
    Leadership::Limits limits;
    // Receives messages for the operator, each a sentence, from the election's
    // thread.
    std::function<void(const std::string& sentence)> say;
  };
  enum class Stage { kStandby, kLeading, kOver };

  // Reads the election's keys once, to find configuration errors. Errors, each
  // with one sentence: those of EtcdClient except Unavailable; and
  // FailedPrecondition: another version of Muster uses the prefix, or a key is
  // damaged. Blocks for at most 2 s plus the look-up of a name.
  static absl::Status Check(EtcdClient* client);

  // Starts to stand by, even if etcd does not answer. `client` must outlive the
  // object. ResourceExhausted: no thread or descriptor is left.
  static absl::StatusOr<std::unique_ptr<LeaderElection>> Begin(
      EtcdClient* client, Options options);
  // Releases the lock if this process leads, so that a standby can lead at
  // once.
  ~LeaderElection();

  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  Stage stage() const;
  // Whether this process leads now and may send directives. Reads the clock, so
  // the result is right even if the election's thread has not run yet, for
  // example after SIGSTOP and SIGCONT. An expired lease ends the leadership for
  // good: stage() is then kOver.
  bool Leads();
  // The leader's term; set once stage() has become kLeading.
  EtcdTerm term() const;
  // The leader's name if another process leads; empty: no leader is known.
  std::string leader() const;
  // A descriptor that becomes readable when stage() or leader() changes, and
  // stays readable until Drain is called.
  int changed_fd() const { return changed_fd_.get(); }
  void Drain();

 private:
  // The values of the election's keys in etcd, as one call of Read found them.
  struct Seen {
    Leadership::Lock lock;
    std::string leader;
    uint64_t epoch = 0;
  };

  LeaderElection(EtcdClient* client, Options options);
  // Reads the election's keys. The errors are those of EtcdClient, and
  // FailedPrecondition: another version of Muster wrote the keys, or the key of
  // the epoch is damaged.
  static absl::StatusOr<Seen> Read(EtcdClient* client, Instant deadline);
  std::string Key(const char* name) const;
  void Run();
  // Makes the call to etcd that `request` names, and passes the result to
  // `core_`.
  void Perform(Leadership::Request request);
  void Claim(Instant deadline);
  void Renew(Instant deadline);
  void Fail(const absl::Status& status);
  // Copies the stage of the election (core_), the end of the lease and the
  // leader's name to the fields that other threads read.
  void Publish();
  // Sets `stage_` and makes `changed_fd_` readable. Requires mutex_.
  void Publish(Stage stage);

  EtcdClient* const client_;
  const Options options_;
  OwnedFd changed_fd_;
  // core_, seen_, epoch_ and troubles_ are used by the election's thread only.
  Leadership core_;
  Seen seen_;
  uint64_t epoch_ = 0;
  TroubleFilter troubles_;

  mutable std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  bool closing_ = false;
  Stage stage_ = Stage::kStandby;
  // The end of this process's lease as the leader: a copy of
  // core_.leads_until().
  Instant leads_until_;
  EtcdTerm term_;
  std::string leader_;
  std::thread thread_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_LEADER_ELECTION_H_
