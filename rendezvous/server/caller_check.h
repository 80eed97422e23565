#ifndef MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_
#define MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_

#include <string>

namespace grpc {
class CallbackServerContext;
class Status;
}  // namespace grpc

namespace muster {

// Who may call: whoever shows the job token, or anybody if there is none.
// Thread-safe.
class CallerCheck {
 public:
  // `token`: empty for none.
  explicit CallerCheck(std::string token) : token_(std::move(token)) {}

  // OK, or UNAUTHENTICATED. Compares in constant time.
  grpc::Status Check(const grpc::CallbackServerContext& context) const;

 private:
  const std::string token_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_CALLER_CHECK_H_
