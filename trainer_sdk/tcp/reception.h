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
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Detects the death of a process that listens but has not connected to this
// rank yet. The watch connects to the process's listener and keeps the
// connection idle; the process need not accept it. If the connection is closed,
// the watch connects again, because a living process also closes idle
// connections. If the new connection is refused, the process no longer listens.
//
// A listener that cannot be reached is not watched. If the first connection is
// refused, the process may be dead, or a firewall may reject connections. The
// process then has the time `timeout` to connect to this rank.
class ListenerWatch {
 public:
  // Starts to connect to the listener at `address`. `who`: the name of the
  // listening process in errors.
  ListenerWatch(const sockaddr_storage& address, socklen_t length,
                std::string who, Duration timeout, Instant now);

  // For the caller's poll loop: polled() is the descriptor to poll and its
  // events, until() the time at which Look must be called at the latest.
  pollfd polled() const;
  Instant until() const { return until_; }

  // Continues the check of the listening process. Must be called after an event
  // of polled(), and at the latest at the time that until() returns.
  // Unavailable: the process has closed its listening socket.
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

// Length in bytes of the group's secret, by which ranks of the group recognise
// each other: a text of 32 hexadecimal digits.
inline constexpr size_t kSecretBytes = 32;
inline constexpr char kHelloMagic[8] = {'M', 'U', 'S', 'T', 'C', 'P', '0', '1'};

// The greeting: the first bytes that each side sends on a connection, with the
// group's secret and the sender's rank.
struct Hello {
  char magic[sizeof(kHelloMagic)];
  char secret[kSecretBytes];
  uint32_t rank;
  uint32_t size;
};

// Whether the greeting `theirs` comes from a rank of the same group as `ours`.
inline bool SameGroup(const Hello& ours, const Hello& theirs) {
  return std::memcmp(theirs.magic, kHelloMagic, sizeof(kHelloMagic)) == 0 &&
         std::memcmp(theirs.secret, ours.secret, kSecretBytes) == 0 &&
         theirs.size == ours.size && theirs.rank < ours.size;
}

// A greeting that arrives in pieces on a connection.
struct ArrivingHello {
  Hello hello{};
  size_t have = 0;

  enum class State { kMore, kWhole, kBroken };
  // Reads the bytes of the greeting that are available at `socket`, without
  // blocking. Returns kWhole once the greeting is complete, kMore while bytes
  // are missing, and kBroken if the connection was closed or failed.
  State Read(StreamSocket& socket);
};

// Sends a greeting. Nothing except a TLS handshake may have been sent on the
// socket before, so that the socket's buffer has room for the whole greeting.
// Returns false if sending fails.
bool SendHello(StreamSocket& socket, const Hello& hello);

// A listener holds at most this number of accepted connections that have not
// identified themselves, plus one for each rank of the group. So callers that
// are not ranks cannot use up the descriptors.
inline constexpr int kStrangers = 64;

// The purpose of connections between ranks, as a name. The TLS key of a
// connection is derived from the group's key and the purpose
// (base/net/tls_stream.h). So a caller that connects for another purpose has
// another TLS key, and is rejected.
inline constexpr char kTcpPurpose[] = "muster tcp";

// Accepts connections until all ranks above this rank (`own.rank`) have
// connected and exchanged greetings with it. Stores their sockets in `sockets`,
// indexed by rank. At least one rank above this rank must exist. `listener`
// must be non-blocking. With `tls`, a caller must prove in the TLS handshake
// that it has the key, before its greeting is read. Blocks until `deadline` at
// most. Callers that have not identified themselves are handled concurrently,
// for a few seconds each.
//
// `next` watches the next rank (own.rank + 1) until that rank has connected. So
// this rank notices if the next rank dies before it connects.
//
//   DeadlineExceeded   ranks without a socket did not connect
//   ResourceExhausted  no descriptor is left for a connection
//   Unavailable        the listener failed, or the next rank has died
//   any other          the error for which the creation of the group (the
//                      formation of `place`) was given up
absl::Status ReceiveRanks(const GroupPlace& place, int listener,
                          const Hello& own,
                          const std::optional<TlsContext>& tls,
                          Instant deadline, ListenerWatch& next,
                          std::vector<StreamSocket>& sockets);

// The longest time for which a rank that connects to its peers sleeps before it
// checks its connections again. If a wake-up is missed, the rank continues
// after this time.
inline constexpr Duration kLongestSleep = std::chrono::minutes(1);

// Converts the errno of a socket call to a status. ResourceExhausted: this
// process or host has no descriptor or memory left; the message names the
// limit. Any other errno: Unavailable.
absl::Status SocketError(const std::string& what, int error);

// The right reaction to an error of accept4.
enum class AcceptFailure {
  kNobody,  // no connection is pending: wait for the next
  // the call was interrupted or the connection is gone: call accept again
  kAgain,
  kFatal,  // give up: no later connection can be accepted either
};
AcceptFailure AcceptFailureOf(int error);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_RECEPTION_H_
