#include "rendezvous/server/caller_check.h"

#include <grpcpp/server_context.h>

#include <string_view>

#include "rendezvous/grpc/call_headers.h"
#include "rendezvous/token/token.h"

namespace muster::rendezvous {

grpc::Status CallerCheck::Check(
    const grpc::CallbackServerContext& context) const {
  if (token_.empty()) return grpc::Status::OK;
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(kAuthorization);
  if (found == metadata.end()) {
    return {grpc::StatusCode::UNAUTHENTICATED,
            "this coordinator asks for a job token, and none was given"};
  }
  std::string_view given(found->second.data(), found->second.size());
  const std::string_view scheme = kBearer;
  if (given.substr(0, scheme.size()) != scheme ||
      !IsToken(given.substr(scheme.size()), token_)) {
    return {grpc::StatusCode::UNAUTHENTICATED, "wrong job token"};
  }
  return grpc::Status::OK;
}

}  // namespace muster::rendezvous
