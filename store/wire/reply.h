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

// A reply of the store. A reply consists only of integers and strings, so
// servers write it with little_endian.h.
struct StoreReply {
  // PING: the nonce. QUEUE_POP: the queue's length before the pop. LIST_KEYS:
  // the number of keys. Others: the byte or number of the reply.
  int64_t number = 0;
  // GET and COMPARE_SET: the value. MULTI_GET: the values in the order of its
  // keys. QUEUE_POP: the element, if any. LIST_KEYS: the keys.
  std::vector<std::string> strings;
};

// Parses the reply to one request, on the client's side, from bytes that arrive
// in arbitrary pieces. Make a new parser for each request that has a reply.
class ReplyParser {
 public:
  // `keys`: the number of requested keys; used for MULTI_GET only.
  ReplyParser(StoreCommand command, size_t keys);

  // Parses the reply at the front of `buffer`, which must hold all bytes that
  // were received and not consumed yet. Returns 0 while the reply is
  // incomplete: append more bytes and call again. Otherwise returns the reply's
  // length; the caller then consumes the reply. For a command without a reply
  // (ReplyOf), always returns 0; do not wait for a reply.
  //   InvalidArgument  not a reply; the connection must be closed
  absl::StatusOr<size_t> Parse(std::string_view buffer, StoreReply* reply);

 private:
  // Reads the number that precedes the reply's strings. Returns false while
  // bytes of the number are missing.
  absl::StatusOr<bool> TakeNumber(std::string_view buffer, StoreReply* reply);

  const ReplyShape shape_;
  size_t strings_wanted_ = 0;
  size_t at_ = 0;
  bool number_taken_ = false;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_WIRE_REPLY_H_
