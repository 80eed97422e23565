#ifndef MUSTER_RENDEZVOUS_TLS_TLS_CREDENTIALS_H_
#define MUSTER_RENDEZVOUS_TLS_TLS_CREDENTIALS_H_

#include <memory>
#include <optional>
#include <string>

#include "rendezvous/tls/tls_files.h"
#include "rendezvous/tls/x509.h"

namespace grpc {
class AuthContext;
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace muster::rendezvous {

// gRPC credentials for mutual TLS 1.3. Both sides show a certificate and check
// the other's against the authorities in `files.authority`. The files are read
// again within 5 s of a change; connections that exist go on. `files` must have
// passed CheckTlsFiles.

// The coordinator's side. It accepts any certificate of the authorities;
// CheckClaim (tls_names.h) compares the names.
std::shared_ptr<grpc::ServerCredentials> TlsServer(const TlsFiles& files);

// The side of an agent or an operator. `host`: the coordinator as the user
// named it. Its certificate must have been issued for that host name or
// address.
std::shared_ptr<grpc::ChannelCredentials> TlsClient(const TlsFiles& files,
                                                    const std::string& host);

// The names in the certificate of a call's peer; nullopt without TLS.
std::optional<CertificateNames> PeerNames(const grpc::AuthContext& context);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_TLS_CREDENTIALS_H_
