#include "rendezvous/client/call_error.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

// gRPC reports every connection failure with the same code; the cause can only
// be found in the message, here in the wording of version 1.51.
struct Sign {
  const char* words;
  const char* meaning;
};

constexpr Sign kSigns[] = {
    {"Connection refused", "connection refused: nothing listens there (yet?)"},
    {"No route to host", "no route to that host"},
    {"Network is unreachable", "its network is unreachable from here"},
    {"Connection timed out", "no answer: is the port open in the firewall?"},
    {"tcp handshaker shutdown",
     "no answer within 5 s: is the port open in the firewall?"},
    {"before receiving SETTINGS",
     "it takes connections but does not answer: it is stopped, or another "
     "program"},
    {"keepalive watchdog timeout", "it has stopped answering"},
    {"Connection reset by peer", "it broke the connection"},
    {"Broken pipe", "it broke the connection"},
    {"Socket closed", "it closed the connection"},
    {"GOAWAY", "it closed the connection"},
    {"last error: OK",
     "something answers there and hangs up: is it another program?"},
};

// Parts of gRPC's messages if another protocol answers.
constexpr const char* kStrangers[] = {"http1.x server", "Failed parsing HTTP/2",
                                      "Expected SETTINGS frame"};

absl::Status Stranger(const std::string& endpoint) {
  return absl::FailedPreconditionError(absl::StrCat(
      endpoint,
      " is not a Muster coordinator: another program answers there; check "
      "host and port"));
}

absl::Status ExplainUnavailable(const std::string& message,
                                const std::string& endpoint) {
  for (const char* words : kStrangers) {
    if (absl::StrContains(message, words)) return Stranger(endpoint);
  }
  for (const Sign& sign : kSigns) {
    if (!absl::StrContains(message, sign.words)) continue;
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
      return Stranger(endpoint);
    case absl::StatusCode::kResourceExhausted:
      return absl::ResourceExhaustedError(
          absl::StrCat("coordinator ", endpoint, ": ", message));
    case absl::StatusCode::kCancelled:
      // Cancelled by the server, which is shutting down.
      return absl::UnavailableError(
          absl::StrCat("coordinator ", endpoint, ": it closed the connection"));
    default:
      return status;
  }
}

}  // namespace muster::rendezvous
