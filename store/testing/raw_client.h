#ifndef MUSTER_STORE_TESTING_RAW_CLIENT_H_
#define MUSTER_STORE_TESTING_RAW_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "store/wire/reply.h"
#include "store/wire/request.h"

namespace muster::store {

// A store client for tests: sends exactly the given bytes. A wait of more than
// 30 s fails the test. IPv4 loopback only.
class RawClient {
 public:
  enum class Greeting { kSent, kNone };
  static constexpr uint32_t kLoopback = 0x7f000001;

  // Connects. With kSent, also sends VALIDATE and PING, and checks the reply.
  // `address`: a loopback address in host byte order. Tests with very many
  // clients use several addresses, because one address has too few ports.
  explicit RawClient(int port, Greeting greeting = Greeting::kSent,
                     uint32_t address = kLoopback);

  void Send(std::string_view bytes);
  void Send(const StoreRequest& request);
  // Sends as much as the socket accepts at once; returns the number of bytes.
  size_t SendWhatFits(std::string_view bytes);
  // Receives `bytes` bytes, or fewer if the connection ends first.
  std::string Receive(size_t bytes);
  // Receives the reply to a request that was sent.
  StoreReply Reply(const StoreRequest& request);
  StoreReply Ask(const StoreRequest& request);
  // Whether data or the connection's end can be read now.
  bool HasInput();
  // Reads until the connection ends, and returns true. Returns false if nothing
  // arrives for 30 s.
  bool Ended();
  void Close() { socket_.Close(); }
  int fd() const { return socket_.get(); }

  // Set, Get and Add send one request each. Get and Add also wait for the reply
  // and return its value.
  void Set(std::string_view key, std::string_view value);
  std::string Get(std::string_view key);
  int64_t Add(std::string_view key, int64_t amount);
  // Sends WAIT; Released() waits for its reply.
  void StartWait(std::string_view key);
  bool Released();

 private:
  // Receives more bytes; returns false if the connection has ended.
  bool ReceiveMore();

  OwnedFd socket_;
  std::string received_;
};

// A group of clients of one store. All clients send the same requests, and
// their replies are read concurrently.
class ManyClients {
 public:
  ManyClients(int port, size_t count,
              RawClient::Greeting greeting = RawClient::Greeting::kSent,
              uint32_t address = RawClient::kLoopback);

  void SendByAll(const StoreRequest& request);
  void SendByAll(std::string_view bytes);
  // Whether any client has data to read now.
  bool HasInput();
  // Reads from all clients until each has received as many bytes as `expected`
  // has, or was disconnected. Stops after 30 s without data. Returns how many
  // clients received exactly `expected`.
  size_t CountReceivers(std::string_view expected);

 private:
  std::vector<std::unique_ptr<RawClient>> clients_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_TESTING_RAW_CLIENT_H_
