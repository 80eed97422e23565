#include "launcher/ssh/starter_pipes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

// Removes a variable and returns its value; -1: not set or not a number from
// `least` to `most`.
int TakeNumber(const char* variable, int least, int most) {
  const char* text = getenv(variable);
  if (text == nullptr) return -1;
  const absl::StatusOr<int64_t> number = ReadNumber(text, least, most);
  unsetenv(variable);
  return number.ok() ? static_cast<int>(*number) : -1;
}

int TakeOne(const char* variable) {
  const int fd = TakeNumber(variable, 3, 1 << 20);
  if (fd < 0) return -1;
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

}  // namespace

void TakeStarterPipes(RemoteOptions& options) {
  options.endpoint_fd = TakeOne(kEndpointVariable);
  options.verdict_fd = TakeOne(kVerdictVariable);
  const int telling =
      TakeNumber(kTellingVariable, 0, static_cast<int>(agent::Telling::kOther));
  if (telling >= 0) options.telling = static_cast<agent::Telling>(telling);
}

std::string TakeCalledName(const std::string& name) {
  constexpr size_t kLongest = 64;
  const char* const text = getenv(kCalledVariable);
  if (text == nullptr) return name;
  const std::string called = text;
  unsetenv(kCalledVariable);
  return called.empty() || called.size() > kLongest ? name : called;
}

void TellPort(const RemoteOptions& options, int port) {
  if (options.endpoint_fd < 0) return;
  const std::string line = absl::StrCat(port, "\n");
  // If the reader has exited, the loss of its connection is handled elsewhere.
  [[maybe_unused]] const ssize_t written =
      write(options.endpoint_fd, line.data(), line.size());
}

}  // namespace muster::launcher
