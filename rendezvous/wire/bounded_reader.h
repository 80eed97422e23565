#ifndef MUSTER_RENDEZVOUS_WIRE_BOUNDED_READER_H_
#define MUSTER_RENDEZVOUS_WIRE_BOUNDED_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster {

// What a text may be. Names end up in paths, in logs and on terminals, so they
// hold no control character; a worker's last words may hold anything.
enum class TextKind { kName, kWords };

// Copies fields of a message from outside into a plain type, each within its
// bounds, and keeps the first that is not: in place of a Status after each
// line. After an error the remaining fields are copied or not; the message as
// a whole is refused.
class BoundedReader {
 public:
  // `message`: what is read, for the error: "report".
  explicit BoundedReader(const char* message) : message_(message) {}

  void Text(const char* field, const std::string& value, size_t most_bytes,
            TextKind kind, std::string* out);
  void Integer(const char* field, int64_t value, int64_t least, int64_t most,
               int* out);
  void Integer64(const char* field, int64_t value, int64_t least, int64_t* out);
  // Within a year either way; what is sensible is for the receiver to say.
  void Span(const char* field, int64_t nanoseconds, Duration* out);
  // True if a list of `count` may be read.
  bool Count(const char* field, int count, int most);
  void Present(const char* field, bool present);
  void Unknown(const char* field, int64_t value);

  // Puts `field` (and its index) before the names of the fields read while it
  // lives: failures[2].message.
  class Within {
   public:
    Within(BoundedReader* reader, const char* field, int index = -1);
    ~Within();
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    BoundedReader* const reader_;
  };

  // Ok, or InvalidArgument naming the first field beyond its bounds.
  absl::Status status() const { return status_; }

 private:
  struct Part {
    const char* field;
    int index;
  };

  void Refuse(const char* field, const std::string& why);

  const char* const message_;
  std::vector<Part> parts_;
  absl::Status status_;
};

inline constexpr int64_t kAnyInt32 = std::numeric_limits<int32_t>::max();

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_WIRE_BOUNDED_READER_H_
