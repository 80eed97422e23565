#ifndef MUSTER_RENDEZVOUS_ETCD_ETCD_ACCESS_H_
#define MUSTER_RENDEZVOUS_ETCD_ETCD_ACCESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::rendezvous {

// Where an etcd cluster is, and how to be let in.
struct EtcdAccess {
  std::vector<Endpoint> members;  // at least one
  // Every key of one group of coordinators begins with this.
  std::string prefix = "/muster/";
  // TLS: `authority` alone, or all three; not given: clear text.
  TlsFiles tls;
  std::string user;  // empty: no user
  std::string password;

  // For messages: "etcd://HOST:PORT,HOST:PORT/muster".
  std::string ToString() const;
};

// Parses etcd://HOST[:PORT],HOST[:PORT]…[/PREFIX]; PORT is 2379 by default, and
// PREFIX "muster". InvalidArgument: what is wrong with `url`.
absl::StatusOr<EtcdAccess> ParseEtcdUrl(const std::string& url);

// Reads user and password from a file with the line "NAME:PASSWORD" into
// `access`. InvalidArgument: a sentence that names the file.
absl::Status ReadEtcdUser(const std::string& path, EtcdAccess& access);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_ETCD_ACCESS_H_
