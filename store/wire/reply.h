#ifndef MUSTER_STORE_WIRE_REPLY_H_
#define MUSTER_STORE_WIRE_REPLY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "store/wire/request.h"

namespace muster::store {

// A reply of the store. Servers write replies with little_endian.h, since each
// consists only of integers and strings.
struct StoreReply {
  // The nonce of PING, the byte or number of other replies; for QUEUE_POP the
  // queue's length before the pop; for LIST_KEYS the number of keys.
  int64_t number = 0;
  // The value of GET and COMPARE_SET; the values of MULTI_GET in the order of
  // its keys; the element of QUEUE_POP, if any; the keys of LIST_KEYS.
  std::vector<std::string> strings;
};

// Parses the reply to one request on the client's side from bytes that arrive
// in arbitrary pieces. Create a new parser for each request that has a reply.
class ReplyParser {
 public:
  // `keys`: the number of requested keys; used for MULTI_GET only.
  ReplyParser(StoreCommand command, size_t keys);

  // Parses the reply at the front of `buffer`, which must hold all bytes
  // received and not consumed, starting with those of the previous call.
  // Returns the reply's length, which the caller then consumes, or 0 while the
  // reply is incomplete. Commands without a reply (ReplyOf) always return 0, so
  // do not wait for theirs.
  //   InvalidArgument  not a reply; the connection must be closed
  absl::StatusOr<size_t> Parse(std::string_view buffer, StoreReply* reply);

 private:
  // Reads the number before the reply's strings; returns false while bytes are
  // missing.
  absl::StatusOr<bool> TakeNumber(std::string_view buffer, StoreReply* reply);

  const ReplyShape shape_;
  size_t strings_wanted_ = 0;
  size_t at_ = 0;
  bool number_taken_ = false;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_WIRE_REPLY_H_
