#ifndef MUSTER_STORE_TESTING_MANY_CLIENTS_H_
#define MUSTER_STORE_TESTING_MANY_CLIENTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "store/testing/raw_client.h"
#include "store/wire/request.h"

namespace muster::store {

// A group of clients of one store that send the same requests and read
// concurrently.
class ManyClients {
 public:
  ManyClients(int port, size_t count,
              RawClient::Greeting greeting = RawClient::Greeting::kSent,
              uint32_t address = RawClient::kLoopback);

  void SendByAll(const StoreRequest& request);
  void SendByAll(std::string_view bytes);
  // Whether any client has data to read now.
  bool HasInput();
  // Reads from all clients until each has received `expected`, was
  // disconnected, or nothing has arrived for 30 s. Returns how many received
  // exactly `expected`. No part of it may have been read before.
  size_t CountThoseSent(std::string_view expected);

 private:
  std::vector<std::unique_ptr<RawClient>> clients_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_TESTING_MANY_CLIENTS_H_
