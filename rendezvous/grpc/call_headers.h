#ifndef MUSTER_RENDEZVOUS_GRPC_CALL_HEADERS_H_
#define MUSTER_RENDEZVOUS_GRPC_CALL_HEADERS_H_

namespace muster::rendezvous {

// The header that carries the job token with each call.
inline constexpr char kAuthorization[] = "authorization";
inline constexpr char kBearer[] = "Bearer ";

// The header that the server sends when it accepts an Attach, before any
// directive. A stream that ends without this header was never accepted.
inline constexpr char kWelcome[] = "muster-welcome";

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_GRPC_CALL_HEADERS_H_
