#ifndef MUSTER_RENDEZVOUS_ETCD_ETCD_ACCESS_H_
#define MUSTER_RENDEZVOUS_ETCD_ETCD_ACCESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::rendezvous {

// The address of an etcd cluster, and the credentials for it.
struct EtcdAccess {
  std::vector<Endpoint> members;  // endpoints of the cluster; at least one
  // Prefix of all keys. Coordinators with the same prefix share their state.
  std::string prefix = "/muster/";
  // The TLS files for the cluster: none (clear text), `authority` alone, or
  // `authority`, `certificate` and `key`.
  TlsFiles tls;
  std::string user;  // empty: no user
  std::string password;

  // Returns "etcd://HOST:PORT,HOST:PORT/muster", for messages.
  std::string ToString() const;
};

// Parses etcd://HOST[:PORT],HOST[:PORT]…[/PREFIX]; PORT is 2379 by default, and
// PREFIX "muster". InvalidArgument: `url` is malformed; the message says how.
absl::StatusOr<EtcdAccess> ParseEtcdUrl(const std::string& url);

// Reads user and password from a file with the line "NAME:PASSWORD" into
// `access`. InvalidArgument, with a sentence that names the file: the file
// cannot be read, does not contain this line, or other users may read it (the
// group of a file that root owns may read it).
absl::Status ReadEtcdUser(const std::string& path, EtcdAccess& access);

// Returns a warning if the password would cross a network in clear text; "" if
// there is no password, TLS is used, or all members are on this host. Pure.
std::string ClearTextPassword(const EtcdAccess& access);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_ETCD_ACCESS_H_
