#ifndef MUSTER_RENDEZVOUS_TLS_EXPLAIN_TLS_H_
#define MUSTER_RENDEZVOUS_TLS_EXPLAIN_TLS_H_

#include <string>

#include "absl/status/status.h"
#include "base/net/socket_address.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::rendezvous {

// Explains why calls to `coordinator` at `address` fail, if TLS is the reason.
// gRPC only reports that a handshake failed. So this function makes a handshake
// of its own, and reads the peer's certificate and alert. `files` and `token`:
// those of this process, as in ClientCredentials (client/channel.h). Blocks
// until `deadline` at most; any thread.
//
// Unauthenticated: a sentence that says which side is wrong, which file, and
// which date or name. Causes: one side uses no TLS, or has another token; the
// coordinator's certificate is expired, from an unknown authority, or for
// another host; the coordinator refuses the certificate of this process.
// OK: TLS is not the reason, or the reason cannot be found.
absl::Status ExplainTls(const Endpoint& coordinator,
                        const SocketAddress& address, const TlsFiles& files,
                        const std::string& token, Instant deadline);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_EXPLAIN_TLS_H_
