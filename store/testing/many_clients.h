#ifndef MUSTER_STORE_TESTING_MANY_CLIENTS_H_
#define MUSTER_STORE_TESTING_MANY_CLIENTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "store/testing/raw_client.h"
#include "store/wire/request.h"

namespace muster {

// Clients of one store that do the same at once, each whenever it can.
class ManyClients {
 public:
  ManyClients(int port, size_t count,
              RawClient::Greeting greeting = RawClient::Greeting::kSent,
              uint32_t address = RawClient::kLoopback);

  void SendByAll(const StoreRequest& request);
  void SendByAll(std::string_view bytes);
  // Whether any of them has something to read at this moment.
  bool HasInput();
  // Reads from all until each has been sent `expected`, or has been cut off, or
  // nothing has come for half a minute: how many were sent just that. Nothing
  // of it may have been read before.
  size_t CountThoseSent(std::string_view expected);

 private:
  std::vector<std::unique_ptr<RawClient>> clients_;
};

}  // namespace muster

#endif  // MUSTER_STORE_TESTING_MANY_CLIENTS_H_
