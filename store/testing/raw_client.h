#ifndef MUSTER_STORE_TESTING_RAW_CLIENT_H_
#define MUSTER_STORE_TESTING_RAW_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "store/wire/command.h"
#include "store/wire/reply.h"
#include "store/wire/request.h"

namespace muster {

// A test's client of a store: says what it is told to, byte for byte, and waits
// at most half a minute for anything, then fails the test. IPv4 loopback.
class RawClient {
 public:
  enum class Greeting { kSent, kNone };
  static constexpr uint32_t kLoopback = 0x7f000001;

  // Connected; with kSent, VALIDATE and PING have gone well. `address`, in the
  // host's order: one of the loopback's, where there are more clients than one
  // has ports for.
  explicit RawClient(int port, Greeting greeting = Greeting::kSent,
                     uint32_t address = kLoopback);

  void Send(std::string_view bytes);
  void Send(const StoreRequest& request);
  // Sends what the socket takes at once; how many bytes of `bytes`.
  size_t SendWhatFits(std::string_view bytes);
  // So many bytes; fewer where the connection ends first.
  std::string Receive(size_t bytes);
  // The reply to a request that was sent.
  StoreReply Reply(const StoreRequest& request);
  StoreReply Ask(const StoreRequest& request);
  // Whether anything is to be read, or the connection's end, at this moment.
  bool HasInput();
  // Waits for the connection to end, with whatever is to be read before;
  // whether it did.
  bool Ended();
  void Close() { socket_.Close(); }
  int fd() const { return socket_.get(); }

  // The commonest ones.
  void Set(std::string_view key, std::string_view value);
  std::string Get(std::string_view key);
  int64_t Add(std::string_view key, int64_t amount);
  // Sends WAIT; Released() waits for its end.
  void StartWait(std::string_view key);
  bool Released();

 private:
  // Some bytes more; false when the connection has ended.
  bool ReceiveMore();

  OwnedFd socket_;
  std::string received_;
};

}  // namespace muster

#endif  // MUSTER_STORE_TESTING_RAW_CLIENT_H_
