#ifndef MUSTER_TRAINER_SDK_TCP_RECEPTION_H_
#define MUSTER_TRAINER_SDK_TCP_RECEPTION_H_

#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/net/stream_socket.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Detects the death of a process that listens but has not connected to this
// rank yet. It opens an idle connection to that process's listener; the process
// need not accept it. When the process drops the connection, as it does with
// any unidentified caller, the watch connects again; if the connection is
// refused, the process no longer listens.
//
// A listener that cannot be reached is not watched. If the first connection is
// refused, the process may be dead or a firewall may reject connections, so the
// process still has `timeout` to connect to this rank.
class ListenerWatch {
 public:
  // Starts to connect. `who`: the listener's name in errors.
  ListenerWatch(const sockaddr_storage& address, socklen_t length,
                std::string who, Duration timeout, Instant now);

  // The descriptor to poll, and the time at which Look must be called at the
  // latest.
  pollfd polled() const;
  Instant until() const { return until_; }

  // Handles the events of the connection. Unavailable: the process no longer
  // listens.
  absl::Status Look(Instant now);

 private:
  enum class State { kDialling, kConnected, kRefused, kBlind };

  void Dial(Instant now);
  void OnDialled(int error, Instant now);

  const sockaddr_storage address_;
  const socklen_t length_;
  const std::string who_;
  const Duration timeout_;
  OwnedFd socket_;
  State state_ = State::kDialling;
  bool has_listened_ = false;
  Instant until_ = Instant::max();
};

// length of the group's secret in hexadecimal digits
inline constexpr size_t kSecretBytes = 32;
inline constexpr char kHelloMagic[8] = {'M', 'U', 'S', 'T', 'C', 'P', '0', '1'};

// The first bytes that both sides send on a connection: the group's secret and
// the sender's rank.
struct Hello {
  char magic[sizeof(kHelloMagic)];
  char secret[kSecretBytes];
  uint32_t rank;
  uint32_t size;
};

// Whether the sender of `theirs` is a rank of the same group as the sender of
// `ours`.
inline bool SameGroup(const Hello& ours, const Hello& theirs) {
  return std::memcmp(theirs.magic, kHelloMagic, sizeof(kHelloMagic)) == 0 &&
         std::memcmp(theirs.secret, ours.secret, kSecretBytes) == 0 &&
         theirs.size == ours.size && theirs.rank < ours.size;
}

// A Hello that arrives in pieces on a connection.
struct ArrivingHello {
  Hello hello{};
  size_t have = 0;

  enum class State { kMore, kWhole, kBroken };
  // Reads the available bytes without blocking.
  State Read(StreamSocket& socket);
};

// Sends a Hello on a socket on which nothing but a handshake has been sent yet,
// so that the socket's buffer has room for all of it. False: the send failed.
bool SendHello(StreamSocket& socket, const Hello& hello);

// The number of simultaneous connections from unidentified callers that are
// accepted in addition to those of the group's ranks.
inline constexpr int kStrangers = 64;

// The purpose of the TLS connections between ranks.
inline constexpr char kTcpPurpose[] = "muster tcp";

// Accepts connections of the ranks above `own.rank` at `listener`, which must
// be non-blocking, and exchanges greetings, until each of these ranks has a
// socket in `sockets`. There must be at least one such rank. With `tls` a
// caller must have the key before its greeting is read. Blocks until `deadline`
// at most. Unidentified callers are handled concurrently, for a few seconds
// each. `next` watches the next rank until that rank has connected. So a rank
// that dies before it has connected to all lower ranks is detected by one of
// them: the rank to which it would connect last.
//
//   DeadlineExceeded   ranks without a socket did not connect
//   ResourceExhausted  no descriptor is left for a connection
//   Unavailable        the listener failed, or the next rank has died
//   any other          the cause for which `place`'s formation was given up
absl::Status ReceiveRanks(const GroupPlace& place, int listener,
                          const Hello& own,
                          const std::optional<TlsContext>& tls,
                          Instant deadline, ListenerWatch& next,
                          std::vector<StreamSocket>& sockets);

// The longest time for which a rank sleeps before it checks its connections
// again, so that a missed wake-up does no harm.
inline constexpr Duration kLongestSleep = std::chrono::minutes(1);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_RECEPTION_H_
