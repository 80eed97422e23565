#ifndef MUSTER_RENDEZVOUS_GRPC_CALL_HEADERS_H_
#define MUSTER_RENDEZVOUS_GRPC_CALL_HEADERS_H_

namespace muster {

// How the job token travels with each call.
inline constexpr char kAuthorization[] = "authorization";
inline constexpr char kBearer[] = "Bearer ";

// Answers an Attach that is let in, before any directive: a stream that ends
// without it never began.
inline constexpr char kWelcome[] = "muster-welcome";

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_GRPC_CALL_HEADERS_H_
