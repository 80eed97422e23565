#ifndef MUSTER_TRAINER_SDK_TCP_HELLO_H_
#define MUSTER_TRAINER_SDK_TCP_HELLO_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace muster {

inline constexpr size_t kSecretBytes = 32;  // as hexadecimal digits
inline constexpr char kHelloMagic[8] = {'M', 'U', 'S', 'T', 'C', 'P', '0', '1'};

// What both sides of a connection say first: the group's secret, then who they
// are.
struct Hello {
  char magic[sizeof(kHelloMagic)];
  char secret[kSecretBytes];
  uint32_t rank;
  uint32_t size;
};

// Whether `theirs` comes from a rank of the group that `ours` is of.
inline bool SameGroup(const Hello& ours, const Hello& theirs) {
  return std::memcmp(theirs.magic, kHelloMagic, sizeof(kHelloMagic)) == 0 &&
         std::memcmp(theirs.secret, ours.secret, kSecretBytes) == 0 &&
         theirs.size == ours.size && theirs.rank < ours.size;
}

// A message of a connection that comes in pieces.
struct ArrivingHello {
  Hello hello{};
  size_t have = 0;

  enum class State { kMore, kWhole, kBroken };
  // Reads what there is, without waiting.
  State Read(int fd);
};

// Into a socket that nothing was sent to yet, which takes so little at once.
bool SendHello(int fd, const Hello& hello);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_HELLO_H_
