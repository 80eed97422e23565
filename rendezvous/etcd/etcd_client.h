#ifndef MUSTER_RENDEZVOUS_ETCD_ETCD_CLIENT_H_
#define MUSTER_RENDEZVOUS_ETCD_ETCD_CLIENT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/etcd/etcd_access.h"

namespace muster::rendezvous {

// Blocking calls to an etcd cluster. Each call goes to the member that answered
// last or, after an error, to the next member. The look-up of a member's name
// may block for a second beyond a call's deadline. Thread-safe.
//
// Errors of all calls are one clause that names the member:
// Unavailable: the member cannot be reached, does not answer in time, or has no
// quorum; etcd may have carried out the call nevertheless. Also Unavailable: a
// TLS file cannot be used.
// Unauthenticated and PermissionDenied: etcd refuses the user, the password or
// the certificate.
// ResourceExhausted: etcd is full.
// OutOfRange: the request is too large.
// FailedPrecondition: the server is no etcd of version 3.
class EtcdClient {
 public:
  struct Value {
    std::string bytes;
    int64_t revision = 0;  // revision of the key's newest change
  };
  // One transaction: checks that each key in `expected` was last changed at the
  // given revision (0: the key does not exist). If so, applies all of
  // `changes`, else nothing.
  struct Transaction {
    std::map<std::string, int64_t> expected;
    // The new values by key; nullopt: the key is removed.
    std::map<std::string, std::optional<std::string>> changes;
  };

  explicit EtcdClient(EtcdAccess access);
  ~EtcdClient();
  EtcdClient(const EtcdClient&) = delete;
  EtcdClient& operator=(const EtcdClient&) = delete;

  const EtcdAccess& access() const;

  // Returns all keys that begin with `prefix`, as of one revision of etcd. If
  // etcd is compacted meanwhile, reads them again at a newer revision.
  absl::StatusOr<std::map<std::string, Value>> Read(const std::string& prefix,
                                                    Instant deadline);
  // Executes the transaction. Returns the revision of its changes, which is
  // greater than all earlier revisions. nullopt: a key was not as expected, and
  // nothing was changed.
  absl::StatusOr<std::optional<int64_t>> Commit(const Transaction& transaction,
                                                Instant deadline);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_ETCD_CLIENT_H_
