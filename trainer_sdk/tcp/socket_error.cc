#include "trainer_sdk/tcp/socket_error.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace muster {

absl::Status SocketError(const std::string& what, int error) {
  const std::string message = absl::StrCat(what, ": ", std::strerror(error));
  switch (error) {
    case EMFILE:
      return absl::ResourceExhaustedError(
          absl::StrCat(message, "; this process may have no more (ulimit -n)"));
    case ENFILE:
      return absl::ResourceExhaustedError(
          absl::StrCat(message, "; this host has no more (fs.file-max)"));
    case ENOBUFS:
    case ENOMEM:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::UnavailableError(message);
  }
}

AcceptFailure AcceptFailureOf(int error) {
  switch (error) {
    case EAGAIN:
      return AcceptFailure::kNobody;
    case EINTR:
    case ECONNABORTED:
    // On Linux, accept4 also returns network errors of the new connection, and
    // rejections by a firewall. The listener itself still works after these
    // errors.
    case EPERM:
    case EPROTO:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
    case ETIMEDOUT:
      return AcceptFailure::kAgain;
    default:
      return AcceptFailure::kFatal;
  }
}

}  // namespace muster
