#ifndef MUSTER_STORE_WIRE_REQUEST_H_
#define MUSTER_STORE_WIRE_REQUEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/wire/command.h"

namespace muster::store {

// One request to the store. The command determines which fields are used. The
// views refer to bytes of the creator of the request: a parser's receive
// buffer, or the caller's strings.
struct StoreRequest {
  StoreCommand command = StoreCommand::kPing;
  // Used by SET, COMPARE_SET, GET, ADD, DELETE_KEY, APPEND, QUEUE_*, BARRIER
  // and WATCH_KEY.
  std::string_view key;
  // Used by SET, APPEND and QUEUE_PUSH; for COMPARE_SET the desired value.
  std::string_view value;
  // Used by COMPARE_SET: the value that must exist now.
  std::string_view expected;
  // Used by CHECK, WAIT, MULTI_GET and MULTI_SET.
  std::vector<std::string_view> keys;
  // Used by MULTI_SET: as many as `keys`.
  std::vector<std::string_view> values;
  // For ADD the amount, for BARRIER the world size, for PING the nonce, for
  // VALIDATE the magic number, for RELAY the version of the frames.
  int64_t number = 0;
};

// Appends the request's bytes in the modern framing. A client starts every
// connection with VALIDATE with kStoreMagic and a PING, whose reply shows that
// a store answers. The caller must respect limits.h: beyond these limits the
// server closes the connection.
void AppendRequest(const StoreRequest& request, std::string* out);

}  // namespace muster::store

#endif  // MUSTER_STORE_WIRE_REQUEST_H_
