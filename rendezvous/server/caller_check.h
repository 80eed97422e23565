#ifndef MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_
#define MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_

#include <string>

namespace grpc {
class CallbackServerContext;
class Status;
}  // namespace grpc

namespace muster::rendezvous {

// Authenticates callers by the job token; accepts every caller if there is
// none. Thread-safe.
class CallerCheck {
 public:
  // `token`: empty: none.
  explicit CallerCheck(std::string token) : token_(std::move(token)) {}

  // Returns OK or UNAUTHENTICATED. The comparison takes constant time.
  grpc::Status Check(const grpc::CallbackServerContext& context) const;

 private:
  const std::string token_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_
