#include "rendezvous/client/call_error.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

absl::Status ExplainUnavailable(const std::string& message,
                                const std::string& endpoint) {
  const struct {
    const char* sign;  // in gRPC's message
    const char* meaning;
  } kSigns[] = {
      {"Connection refused",
       "connection refused: nothing listens there (yet?)"},
      {"No route to host", "no route to that host"},
      {"Network is unreachable", "its network is unreachable from here"},
      {"Connection timed out", "no answer: is the port open in the firewall?"},
      {"keepalive watchdog timeout", "it has stopped answering"},
      {"Connection reset by peer", "it broke the connection"},
      {"Broken pipe", "it broke the connection"},
      {"Socket closed", "it closed the connection"},
      {"GOAWAY", "it closed the connection"},
  };
  for (const auto& sign : kSigns) {
    if (!absl::StrContains(message, sign.sign)) continue;
    return absl::UnavailableError(
        absl::StrCat("coordinator ", endpoint, ": ", sign.meaning));
  }
  return absl::UnavailableError(
      absl::StrCat("coordinator ", endpoint, ": ", message));
}

}  // namespace

absl::Status ExplainCallError(const absl::Status& status,
                              const std::string& endpoint) {
  const std::string message(status.message());
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return ExplainUnavailable(message, endpoint);
    case absl::StatusCode::kUnauthenticated:
      return absl::UnauthenticatedError(
          absl::StrCat("coordinator ", endpoint, ": ", message,
                       "; give the coordinator's own by MUSTER_TOKEN or "
                       "--token-file"));
    case absl::StatusCode::kUnimplemented:
      return absl::FailedPreconditionError(
          absl::StrCat(endpoint,
                       " is not a Muster coordinator: another program answers "
                       "there; check --rdzv-endpoint"));
    case absl::StatusCode::kCancelled:
      // By the server: it is shutting down.
      return absl::UnavailableError(
          absl::StrCat("coordinator ", endpoint, ": it closed the connection"));
    default:
      return status;
  }
}

}  // namespace muster
