#include "trainer_sdk/tcp/send_counters.h"

// The struct tcp_info of <netinet/tcp.h> lacks members that this file reads,
// such as tcpi_delivery_rate.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "trainer_sdk/rank_time/rank_time.h"

namespace muster {
namespace {

// Whether the peer is on this host: both ends of the connection have the same
// IP address.
bool IsOnThisHost(int fd) {
  sockaddr_storage own{};
  sockaddr_storage peer{};
  socklen_t own_bytes = sizeof(own);
  socklen_t peer_bytes = sizeof(peer);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_bytes) != 0 ||
      getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_bytes) != 0 ||
      own.ss_family != peer.ss_family) {
    return false;
  }
  if (own.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(own).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(peer).sin_addr.s_addr;
  }
  return own.ss_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(own).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr,
                     sizeof(in6_addr)) == 0;
}

}  // namespace

std::optional<SendCounters> ReadSendCounters(int fd) {
  tcp_info info{};
  socklen_t bytes = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0 ||
      bytes < offsetof(tcp_info, tcpi_sndbuf_limited)) {
    return std::nullopt;
  }
  return SendCounters{
      .busy = std::chrono::microseconds(info.tcpi_busy_time),
      .receiver_limited = std::chrono::microseconds(info.tcpi_rwnd_limited),
      .acknowledged = static_cast<int64_t>(info.tcpi_bytes_acked),
      .rate = static_cast<int64_t>(info.tcpi_delivery_rate)};
}

Duration NetworkLimited(const SendCounters& from, const SendCounters& to) {
  if (to.rate <= 0) return Duration::zero();
  const double transfer_s =
      static_cast<double>(to.acknowledged - from.acknowledged) /
      static_cast<double>(to.rate);
  const double under_way_s =
      ToSeconds(to.busy - from.busy) -
      ToSeconds(to.receiver_limited - from.receiver_limited);
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
      std::max(std::min(transfer_s, under_way_s), 0.0)));
}

void LinkMeter::Add(int peer, int fd) {
  if (IsOnThisHost(fd)) return;
  const std::optional<SendCounters> now = ReadSendCounters(fd);
  if (now.has_value()) links_.push_back({peer, fd, *now});
}

void LinkMeter::Measure(Instant now) {
  if (links_.empty() || now < due_) return;
  due_ = now + std::max(kInterval, kIntervalPerLink * std::ssize(links_));
  for (Link& link : links_) {
    const std::optional<SendCounters> counters = ReadSendCounters(link.fd);
    if (!counters.has_value()) continue;
    // The bytes that the peer has acknowledged since the last measurement. If
    // no bytes were acknowledged, no time is added for this link.
    const int64_t sent = counters->acknowledged - link.last.acknowledged;
    if (sent > 0) {
      RankTime::Process().AddLinkTime(
          link.peer, NetworkLimited(link.last, *counters), sent);
    }
    link.last = *counters;
  }
}

}  // namespace muster
