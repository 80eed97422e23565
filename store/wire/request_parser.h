#ifndef MUSTER_STORE_WIRE_REQUEST_PARSER_H_
#define MUSTER_STORE_WIRE_REQUEST_PARSER_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "store/wire/request.h"

namespace muster::store {

// Splits the bytes of one connection into requests. The bytes arrive in
// arbitrary pieces: PyTorch's client flushes every 1,440 bytes, and a malicious
// one may send single bytes. No byte is parsed twice, so the work is linear.
// Allocates no memory for data that was announced but has not arrived.
class RequestParser {
 public:
  RequestParser() = default;
  // Makes a parser for a connection whose framing is known and that has already
  // sent VALIDATE.
  explicit RequestParser(StoreFraming framing)
      : framing_(framing), validated_(true) {}

  // Parses one request at the front of `buffer`, which must hold all bytes that
  // were received and not consumed yet. Returns 0 while the request is
  // incomplete: append more bytes and call again. Otherwise sets `request`,
  // whose views refer to `buffer`, and returns the request's length; the caller
  // then consumes the request.
  //   InvalidArgument    not the store's protocol; the connection must be
  //                      closed
  //   ResourceExhausted  exceeds a limit of request.h; the connection must be
  //                      closed
  absl::StatusOr<size_t> Parse(std::string_view buffer, StoreRequest* request);

  // The number of bytes that `buffer` must have before another Parse can make
  // progress.
  size_t wanted() const { return wanted_; }

  StoreFraming framing() const { return framing_; }

  // Memory, in bytes, of the list in which the parser keeps the positions of
  // the strings of the current request.
  size_t memory() const { return spans_.capacity() * sizeof(Span); }

 private:
  struct Span {
    size_t at;
    size_t size;
  };

  // Each Take function parses one part of the request, which starts at offset
  // `at_` of the buffer. It returns true if the part is complete, false if
  // bytes are missing.
  absl::StatusOr<bool> TakeCommand(std::string_view buffer);
  absl::StatusOr<bool> TakeCount(std::string_view buffer);
  absl::StatusOr<bool> TakeStrings(std::string_view buffer);
  // Whether `buffer` has the next `bytes` bytes of the request, from the offset
  // at_ on. If not, sets wanted_ to the size that the buffer must have.
  bool Has(std::string_view buffer, size_t bytes);
  bool IsKey(size_t index) const;
  void Fill(std::string_view buffer, StoreRequest* request) const;

  enum class Stage { kCommand, kCount, kStrings, kNumber };

  StoreFraming framing_ = StoreFraming::kUnknown;
  Stage stage_ = Stage::kCommand;
  StoreCommand command_ = StoreCommand::kPing;
  ArgumentShape shape_;
  size_t at_ = 0;
  size_t wanted_ = 1;
  size_t strings_wanted_ = 0;
  bool validated_ = false;
  // Offset and size of each string of the current request. The memory is kept
  // for the next request, except after an unusually large request.
  std::vector<Span> spans_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_WIRE_REQUEST_PARSER_H_
