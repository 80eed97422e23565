#include "trainer_sdk/progress/progress.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster {
namespace {

constexpr size_t kStatusBytes = 256;

// Truncates `text` to at most `bytes` bytes, between two UTF-8 characters.
std::string Cut(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (text[bytes] & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return text;
}

}  // namespace

std::string ProgressMessage(const ProgressUpdate& update) {
  std::string text;
  if (update.step) absl::StrAppend(&text, "STEP=", *update.step, "\n");
  if (update.loss) absl::StrAppendFormat(&text, "LOSS=%.9g\n", *update.loss);
  if (update.tokens_per_second) {
    absl::StrAppendFormat(&text, "TOKENS_PER_S=%.9g\n",
                          *update.tokens_per_second);
  }
  if (update.watchdog) {
    absl::StrAppendFormat(&text, "WATCHDOG_S=%.9g\n",
                          ToSeconds(*update.watchdog));
  }
  if (update.checkpoint) {
    absl::StrAppend(&text, "CHECKPOINT=", *update.checkpoint ? 1 : 0, "\n");
  }
  if (update.status) {
    absl::StrAppend(
        &text, "STATUS=", OneLine(Cut(*update.status, kStatusBytes)), "\n");
  }
  return text.empty() ? "WATCHDOG=1\n" : text;
}

Progress::Progress(const std::string& socket_path) {
  if (socket_path.empty() || socket_path.size() >= sizeof(agent_.sun_path)) {
    return;
  }
  socket_ = OwnedFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket_.open()) return;
  agent_.sun_family = AF_UNIX;
  std::memcpy(agent_.sun_path, socket_path.data(), socket_path.size());
  agent_bytes_ = offsetof(sockaddr_un, sun_path) + socket_path.size();
  if (socket_path[0] == '@') {
    // abstract socket names begin with a 0 byte and are not terminated by one
    agent_.sun_path[0] = '\0';
  } else {
    ++agent_bytes_;
  }
}

void Progress::Send(const ProgressUpdate& update) {
  const std::string message = ProgressMessage(update);
  // sendto instead of a connected socket, so that reports also reach an agent
  // that has reopened its socket.
  const ssize_t sent =
      agent_bytes_ == 0
          ? -1
          : sendto(socket_.get(), message.data(), message.size(),
                   MSG_DONTWAIT | MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&agent_), agent_bytes_);
  if (sent < 0) ++dropped_;
}

}  // namespace muster
