#ifndef MUSTER_STORE_WIRE_REQUEST_PARSER_H_
#define MUSTER_STORE_WIRE_REQUEST_PARSER_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "store/wire/command.h"
#include "store/wire/request.h"

namespace muster {

// Takes one connection's bytes apart into requests, however they are cut: a
// client flushes every 1,440 bytes, and a bad one sends byte by byte. What was
// looked at is not looked at again, so that the work is linear in the bytes.
// Allocates nothing for what has been announced and has not come.
class RequestParser {
 public:
  RequestParser() = default;
  // For bytes whose framing is settled already; a VALIDATE has been.
  explicit RequestParser(StoreFraming framing)
      : framing_(framing), validated_(true) {}

  // Looks for one request at the front of `buffer`: all bytes received and not
  // yet consumed, beginning with those of the last call. Its length, which the
  // caller then consumes, and the request, whose views point into `buffer`;
  // or 0 while it is incomplete.
  //   InvalidArgument    not the store's protocol; the connection is of no use
  //   ResourceExhausted  beyond limits.h; likewise
  absl::StatusOr<size_t> Parse(std::string_view buffer, StoreRequest* request);

  // The least number of bytes that `buffer` must hold before another Parse can
  // get further.
  size_t wanted() const { return wanted_; }

  StoreFraming framing() const { return framing_; }

  // The memory held for the request under way.
  size_t memory() const { return spans_.capacity() * sizeof(Span); }

 private:
  struct Span {
    size_t at;
    size_t size;
  };

  // Each looks at the buffer from at_ on: true when that part is complete,
  // false when bytes are missing.
  absl::StatusOr<bool> TakeCommand(std::string_view buffer);
  absl::StatusOr<bool> TakeCount(std::string_view buffer);
  absl::StatusOr<bool> TakeStrings(std::string_view buffer);
  // Whether so many bytes are there from at_ on.
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
  // Kept for the next request; shrunk when it was unusually large.
  std::vector<Span> spans_;
};

}  // namespace muster

#endif  // MUSTER_STORE_WIRE_REQUEST_PARSER_H_
