#ifndef MUSTER_RENDEZVOUS_TLS_TLS_CREDENTIALS_H_
#define MUSTER_RENDEZVOUS_TLS_TLS_CREDENTIALS_H_

#include <memory>
#include <optional>
#include <string>

#include "rendezvous/tls/principal.h"
#include "rendezvous/tls/tls_files.h"
#include "rendezvous/tls/token_identity.h"
#include "rendezvous/tls/x509.h"

namespace grpc {
class AuthContext;
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace muster::rendezvous {

// gRPC credentials for mutual TLS 1.3. Both sides present a certificate, and
// check the other side's certificate against the authorities that they trust.
//
// Credentials come from files or from a token (token_identity.h). Files must
// have passed CheckTlsFiles. Files that change are read again within 5 s;
// existing connections continue.

// The coordinator's credentials. Any certificate of the authorities is
// accepted; PeerPrincipal and CheckClaim (principal.h) decide which calls a
// certificate permits.
std::shared_ptr<grpc::ServerCredentials> TlsServer(const TlsFiles& files);
std::shared_ptr<grpc::ServerCredentials> TlsServer(
    const TokenIdentity& identity);

// The credentials of an agent or an operator. `host`: the coordinator's host
// name or address as the user gave it. The coordinator's certificate must have
// been issued for `host`.
std::shared_ptr<grpc::ChannelCredentials> TlsClient(const TlsFiles& files,
                                                    const std::string& host);
// The credentials of an agent or an operator that has a token. They accept only
// a coordinator that has the same token or the secret from which the token was
// derived. The coordinator's host name does not matter.
std::shared_ptr<grpc::ChannelCredentials> TlsClient(
    const TokenIdentity& identity);

// Returns the names in the certificate of a call's peer; nullopt without TLS.
std::optional<CertificateNames> PeerNames(const grpc::AuthContext& context);

// Returns the principal (name, roles and jobs) of a call's peer. Without TLS: a
// principal without a name, with all roles.
Principal PeerPrincipal(const grpc::AuthContext& context);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_TLS_CREDENTIALS_H_
