#ifndef MUSTER_TRAINER_SDK_TCP_HELLO_H_
#define MUSTER_TRAINER_SDK_TCP_HELLO_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace muster {

inline constexpr size_t kSecretBytes = 32;  // in hexadecimal digits
inline constexpr char kHelloMagic[8] = {'M', 'U', 'S', 'T', 'C', 'P', '0', '1'};

// The first bytes that both sides send on a connection: the group's secret and
// the sender's rank.
struct Hello {
  char magic[sizeof(kHelloMagic)];
  char secret[kSecretBytes];
  uint32_t rank;
  uint32_t size;
};

// Whether `theirs` was sent by a rank of the same group as `ours`.
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
  // Reads the available bytes, without blocking.
  State Read(int fd);
};

// Sends to a socket to which nothing has been sent yet, so that its buffer has
// room for all of it. False: the send failed.
bool SendHello(int fd, const Hello& hello);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_HELLO_H_
