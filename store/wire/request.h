#ifndef MUSTER_STORE_WIRE_REQUEST_H_
#define MUSTER_STORE_WIRE_REQUEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/wire/command.h"

namespace muster {

// One request to the store. Which fields count, the command says. The views
// point to bytes of whoever made the request: the receive buffer of a parser,
// or the caller's strings.
struct StoreRequest {
  StoreCommand command = StoreCommand::kPing;
  // SET, COMPARE_SET, GET, ADD, DELETE_KEY, APPEND, QUEUE_*, BARRIER, WATCH_KEY
  std::string_view key;
  // SET, APPEND, QUEUE_PUSH; COMPARE_SET: what is desired.
  std::string_view value;
  // COMPARE_SET: what must be there now.
  std::string_view expected;
  // CHECK, WAIT, MULTI_GET, MULTI_SET
  std::vector<std::string_view> keys;
  // MULTI_SET: as many as keys.
  std::vector<std::string_view> values;
  // ADD: the amount; BARRIER: the world's size; PING: the nonce; VALIDATE: the
  // magic number; RELAY: the frames' version.
  int64_t number = 0;
};

// The request's bytes in the modern framing, appended. What a client sends
// first on every connection is VALIDATE with kStoreMagic, and a PING whose
// reply shows that a store answers. The caller keeps to limits.h: beyond them
// the server closes the connection.
void AppendRequest(const StoreRequest& request, std::string* out);

}  // namespace muster

#endif  // MUSTER_STORE_WIRE_REQUEST_H_
