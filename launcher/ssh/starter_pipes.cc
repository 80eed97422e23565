#include "launcher/ssh/starter_pipes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "agent/options/option_values.h"

namespace muster {
namespace {

int TakeOne(const char* variable) {
  const char* text = getenv(variable);
  if (text == nullptr) return -1;
  const absl::StatusOr<int64_t> number = ReadNumber(text, 3, 1 << 20);
  unsetenv(variable);
  if (!number.ok()) return -1;
  const int fd = static_cast<int>(*number);
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

}  // namespace

void TakeStarterPipes(RemoteOptions& options) {
  options.endpoint_fd = TakeOne(kEndpointVariable);
  options.verdict_fd = TakeOne(kVerdictVariable);
}

void TellPort(const RemoteOptions& options, int port) {
  if (options.endpoint_fd < 0) return;
  const std::string line = absl::StrCat(port, "\n");
  // Whoever asked and is gone is missed elsewhere.
  [[maybe_unused]] const ssize_t written =
      write(options.endpoint_fd, line.data(), line.size());
}

}  // namespace muster
