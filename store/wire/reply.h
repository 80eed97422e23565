#ifndef MUSTER_STORE_WIRE_REPLY_H_
#define MUSTER_STORE_WIRE_REPLY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "store/wire/command.h"

namespace muster {

// What the store answered. A server makes replies with little_endian.h: each
// is no more than an integer or strings.
struct StoreReply {
  // The nonce, byte or number; of a QUEUE_POP the queue's length before it; of
  // LIST_KEYS how many there are.
  int64_t number = 0;
  // The value of GET and COMPARE_SET; MULTI_GET's values in the order of its
  // keys; QUEUE_POP's element, if there was one; LIST_KEYS' keys.
  std::vector<std::string> strings;
};

// A client's side of one request: takes the reply out of the bytes received,
// however they are cut. Make a new one for each request that has a reply.
class ReplyParser {
 public:
  // `keys` counts for MULTI_GET: how many were asked for.
  ReplyParser(StoreCommand command, size_t keys);

  // Looks for the reply at the front of `buffer`: all bytes received and not
  // yet consumed, beginning with those of the last call. The reply's length,
  // which the caller then consumes, or 0 while it is incomplete; always 0
  // bytes for what has no reply (ReplyOf), so don't wait for those.
  //   InvalidArgument  this is no reply; the connection is of no use
  absl::StatusOr<size_t> Parse(std::string_view buffer, StoreReply* reply);

 private:
  // Reads the number in front of the strings; false while bytes are missing.
  absl::StatusOr<bool> TakeNumber(std::string_view buffer, StoreReply* reply);

  const ReplyShape shape_;
  size_t strings_wanted_ = 0;
  size_t at_ = 0;
  bool number_taken_ = false;
};

}  // namespace muster

#endif  // MUSTER_STORE_WIRE_REPLY_H_
