#include "agent/progress/progress_message.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "agent/logs/terminal_text.h"

namespace muster::agent {
namespace {

constexpr double kLongestWatchdogSeconds = 365.0 * 24 * 3600;
// The longest time (ten years) accepted in a worker's report; a longer time is
// ignored.
constexpr Duration kLongestTime = std::chrono::hours(10 * 365 * 24);

// Parses the whole of `text` as a number, independent of the locale; nullopt if
// invalid.
template <typename T>
std::optional<T> Number(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::optional<Duration> Watchdog(std::string_view text) {
  const std::optional<double> seconds = Number<double>(text);
  // The condition is negated so that it also rejects NaN.
  if (!seconds || !(*seconds >= 0 && *seconds <= kLongestWatchdogSeconds)) {
    return std::nullopt;
  }
  if (*seconds == 0) return Duration::zero();
  return std::max(kShortestWatchdog,
                  std::chrono::duration_cast<Duration>(
                      std::chrono::duration<double>(*seconds)));
}

std::optional<Duration> Time(std::string_view text) {
  const std::optional<int64_t> time = Number<int64_t>(text);
  if (!time || *time < 0 || *time > kLongestTime.count()) return std::nullopt;
  return Duration(*time);
}

std::optional<std::vector<rendezvous::LinkTime>> Links(std::string_view text) {
  if (text.empty() || text.ends_with(',')) return std::nullopt;
  std::vector<rendezvous::LinkTime> links;
  while (!text.empty()) {
    const std::string_view link = text.substr(0, text.find(','));
    text.remove_prefix(std::min(link.size() + 1, text.size()));
    const size_t colon = std::min(link.find(':'), link.size());
    const std::optional<int> peer = Number<int>(link.substr(0, colon));
    const std::optional<Duration> limited =
        Time(link.substr(std::min(colon + 1, link.size())));
    const bool is_repeated =
        std::any_of(links.begin(), links.end(),
                    [&](const auto& other) { return other.peer == peer; });
    if (!peer || *peer < 0 || !limited || is_repeated ||
        links.size() == rendezvous::kMaxLinksPerRank) {
      return std::nullopt;
    }
    links.push_back({.peer = *peer, .limited = *limited});
  }
  return links;
}

// Stores one KEY=VALUE line in the message. Returns true if the line counts as
// a sign of life.
bool Take(std::string_view key, std::string_view value,
          ProgressMessage& message) {
  if (key == "STEP") {
    const std::optional<int64_t> step = Number<int64_t>(value);
    if (!step || *step < 0) return false;
    message.step = step;
  } else if (key == "LOSS") {
    const std::optional<double> loss = Number<double>(value);
    if (!loss) return false;
    message.loss = loss;
  } else if (key == "TOKENS_PER_S") {
    const std::optional<double> rate = Number<double>(value);
    if (!rate || !std::isfinite(*rate) || *rate < 0) return false;
    message.tokens_per_s = rate;
  } else if (key == "STATUS") {
    message.status = BoundedLine(value, rendezvous::kMaxStatusBytes);
  } else if (key == "WATCHDOG_S") {
    const std::optional<Duration> watchdog = Watchdog(value);
    if (!watchdog) return false;
    message.watchdog = watchdog;
  } else if (key == "CHECKPOINT") {
    if (value != "0" && value != "1") return false;
    message.checkpoint = value == "1";
  } else if (key == "OWN_NS") {
    message.own = Time(value);
    return false;
  } else if (key == "BLOCKED_NS") {
    message.blocked = Time(value);
    return false;
  } else if (key == "DATA_NS") {
    message.data = Time(value);
    return false;
  } else if (key == "LINKS_NS") {
    message.links = Links(value);
    return false;
  } else if (key == "SENT_BYTES") {
    const std::optional<int64_t> sent = Number<int64_t>(value);
    if (sent && *sent >= 0) message.sent = sent;
    return false;
  } else {
    return key == "WATCHDOG" && value == "1";
  }
  return true;
}

template <typename T>
void Replace(const std::optional<T>& later, std::optional<T>& value) {
  if (later.has_value()) value = later;
}

}  // namespace

ProgressMessage ParseProgress(std::string_view datagram) {
  ProgressMessage message;
  if (datagram.size() > kMaxProgressBytes) {
    datagram = datagram.substr(0, kMaxProgressBytes);
    datagram = datagram.substr(0, datagram.rfind('\n') + 1);
  }
  while (!datagram.empty()) {
    const std::string_view line = datagram.substr(0, datagram.find('\n'));
    datagram.remove_prefix(std::min(line.size() + 1, datagram.size()));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view value = line.substr(equals + 1);
    if (value.ends_with('\r')) value.remove_suffix(1);
    if (Take(line.substr(0, equals), value, message)) message.alive = true;
  }
  return message;
}

void Append(const ProgressMessage& later, ProgressMessage* message) {
  message->alive = message->alive || later.alive;
  Replace(later.step, message->step);
  Replace(later.loss, message->loss);
  Replace(later.tokens_per_s, message->tokens_per_s);
  Replace(later.status, message->status);
  Replace(later.checkpoint, message->checkpoint);
  Replace(later.watchdog, message->watchdog);
  Replace(later.own, message->own);
  Replace(later.blocked, message->blocked);
  Replace(later.data, message->data);
  Replace(later.links, message->links);
  Replace(later.sent, message->sent);
}

}  // namespace muster::agent
