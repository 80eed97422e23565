#ifndef MUSTER_RENDEZVOUS_WIRE_BOUNDED_READER_H_
#define MUSTER_RENDEZVOUS_WIRE_BOUNDED_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::rendezvous {

// Limits of fields in messages that this process receives. More limits are in
// rendezvous/protocol/report.h and failure.h.
inline constexpr size_t kMaxNcclIdBytes = 256;  // a 128-byte id, in hex digits
inline constexpr size_t kMaxPathBytes = 4096;   // PATH_MAX of Linux
inline constexpr size_t kMaxRunTagBytes = 64;
inline constexpr size_t kMaxReasonBytes = 4096;
inline constexpr int kMaxPort = 65535;
inline constexpr int kMaxSignal = 64;  // SIGRTMAX of Linux
inline constexpr int kMaxExitCode = 255;
// Limits of one answer from the coordinator to an operator.
inline constexpr int kMaxListedJobs = 100'000;
inline constexpr int kMaxListedNodes = 1'000'000;
inline constexpr int kMaxDecisionsPerUpdate = 1024;

// Maximum size of a message from an agent. The largest valid report (eight
// failures with traceback, error file and last output) has about 120 KiB.
inline constexpr int kMaxReportBytes = 1 << 20;
// Maximum size of an answer from the coordinator to an operator. A status of
// 10,000 nodes has about 2 MiB.
inline constexpr int kMaxAnswerBytes = 256 << 20;

// The kind of a text field. kName: no control characters, since names appear in
// paths, in logs and on terminals. kWords: any bytes, such as a worker's
// output.
enum class TextKind { kName, kWords };

// Copies the fields of an untrusted message into a plain type, and checks the
// bounds of each field. Keeps the first error, so that the caller need not
// check a status after each field. After an error the plain type may be
// incomplete, so the caller must refuse the whole message.
class BoundedReader {
 public:
  // `message`: the name of the message in errors, such as "report".
  explicit BoundedReader(const char* message) : message_(message) {}

  void Text(const char* field, const std::string& value, size_t max_bytes,
            TextKind kind, std::string* out);
  void Integer(const char* field, int64_t value, int64_t least, int64_t most,
               int* out);
  void Integer64(const char* field, int64_t value, int64_t least, int64_t* out);
  // Reads an epoch. It is an error if the value is so high that no higher epoch
  // could follow.
  void Epoch(const char* field, uint64_t value, uint64_t* out);
  // Reads a duration between minus one year and one year; the caller checks
  // whether the value makes sense.
  void Span(const char* field, int64_t nanoseconds, Duration* out);
  // Returns whether a list of `count` elements may be read: `count` is at most
  // `most`. Otherwise records an error.
  bool Count(const char* field, int count, int most);
  void Present(const char* field, bool present);
  void Unknown(const char* field, int64_t value);

  // While a Within object lives, the names of fields in error messages begin
  // with `field` and its index: "failures[2].message".
  class Within {
   public:
    Within(BoundedReader* reader, const char* field, int index = -1);
    ~Within();
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    BoundedReader* const reader_;
  };

  // OK, or InvalidArgument that names the first field that is out of bounds.
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

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_BOUNDED_READER_H_
