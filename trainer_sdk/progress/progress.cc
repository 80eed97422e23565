#include "trainer_sdk/progress/progress.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <system_error>

#include "base/monotonic_clock.h"

namespace muster {
namespace {

constexpr size_t kStatusBytes = 256;

// Truncates `text` to at most `bytes` bytes, without splitting a UTF-8
// character.
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

// Appends the line KEY=VALUE to `text`, in the same way in every locale. A
// double has at most 9 significant digits.
void Append(const char* key, const std::string& value, std::string& text) {
  text.append(key).append("=").append(value).append("\n");
}

void Append(const char* key, int64_t value, std::string& text) {
  Append(key, std::to_string(value), text);
}

void Append(const char* key, double value, std::string& text) {
  char digits[32];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits),
                                          value, std::chars_format::general, 9);
  if (error == std::errc()) Append(key, std::string(digits, end), text);
}

}  // namespace

std::string ProgressMessage(const ProgressUpdate& update) {
  std::string text;
  if (update.step) Append("STEP", *update.step, text);
  if (update.loss) Append("LOSS", *update.loss, text);
  if (update.tokens_per_second) {
    Append("TOKENS_PER_S", *update.tokens_per_second, text);
  }
  if (update.watchdog) Append("WATCHDOG_S", ToSeconds(*update.watchdog), text);
  if (update.checkpoint) {
    Append("CHECKPOINT", int64_t{*update.checkpoint}, text);
  }
  if (update.status) {
    Append("STATUS", OneLine(Cut(*update.status, kStatusBytes)), text);
  }
  if (update.times) {
    Append("OWN_NS", update.times->own.count(), text);
    Append("BLOCKED_NS", update.times->blocked.count(), text);
    // Leave out DATA_NS (the time spent waiting for input data) if it is 0.
    // Another part of the program may have reported a value for this key, and a
    // 0 would replace it.
    if (update.times->data > Duration::zero()) {
      Append("DATA_NS", update.times->data.count(), text);
    }
    std::string links;
    for (const LinkTime& link : update.times->links) {
      if (!links.empty()) links += ',';
      links += std::to_string(link.peer) + ':' +
               std::to_string(link.limited.count());
    }
    if (!links.empty()) {
      Append("LINKS_NS", links, text);
      Append("SENT_BYTES", update.times->sent, text);
    }
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
    // names of abstract sockets begin with a 0 byte and do not end with one
    agent_.sun_path[0] = '\0';
  } else {
    ++agent_bytes_;
  }
}

void Progress::Send(const ProgressUpdate& update) {
  std::string message = ProgressMessage(update);
  if (update.step && !update.times) {
    const auto times = RankTime::Process().TakeAtStep(MonotonicNow());
    if (times.has_value()) message += ProgressMessage({.times = times});
  }
  // Use sendto without connecting the socket. So reports also reach an agent
  // that has closed its socket and opened it again.
  const ssize_t sent =
      agent_bytes_ == 0
          ? -1
          : sendto(socket_.get(), message.data(), message.size(),
                   MSG_DONTWAIT | MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&agent_), agent_bytes_);
  if (sent < 0) ++dropped_;
}

void ReportRankTime(Instant now) {
  static Progress* const progress = [] {
    const char* const socket = std::getenv("MUSTER_PROGRESS_SOCKET");
    return new Progress(socket == nullptr ? "" : socket);
  }();
  const auto times = RankTime::Process().Read(now);
  if (times.has_value()) progress->Send({.times = times});
}

}  // namespace muster
