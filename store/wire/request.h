#ifndef MUSTER_STORE_WIRE_REQUEST_H_
#define MUSTER_STORE_WIRE_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::store {

// The commands of PyTorch's TCPStore. The values are PyTorch's numbers on the
// wire since version 2.1, except for kWatchKey and kRelay.
enum class StoreCommand : uint8_t {
  kValidate = 0,
  kSet = 1,
  kCompareSet = 2,
  kGet = 3,
  kAdd = 4,
  kCheck = 5,
  kWait = 6,
  kNumKeys = 7,
  kDelete = 8,
  kAppend = 9,
  kMultiGet = 10,
  kMultiSet = 11,
  kCancelWait = 12,
  kPing = 13,
  kQueuePush = 14,
  kQueuePop = 15,
  kQueueLen = 16,
  kListKeys = 17,
  kBarrier = 18,
  // WATCH_KEY. Only the old framing has this command, with the number 7. The
  // value 64 is internal and is never sent.
  kWatchKey = 64,
  // Muster's extension: after this command the connection carries frames of
  // many clients (relay_frames.h).
  kRelay = 128,
};

// How the commands on a connection are numbered: as in new (kModern) or in old
// (kOld) versions of PyTorch. The commands' arguments and replies are the same
// in both.
enum class StoreFraming {
  kUnknown,  // too few bytes have arrived to know the framing
  kModern,   // PyTorch 2.1 and newer: VALIDATE comes first, SET is 1.
  // Older PyTorch: there is no VALIDATE. The commands from SET to GETNUMKEYS
  // have the numbers 0 to 6, each lower by one than in kModern.
  kOld,
};

// The arguments of a command. In a request they follow the command's byte, in
// the order of these members.
struct ArgumentShape {
  // Number of strings (u64 length and bytes); the first is a key, the others
  // are values.
  size_t strings = 0;
  // If a list of items follows (a u64 count, then the strings of each item):
  // the number of strings per item, 1 (a key) or 2 (a key and its value). 0: no
  // list follows.
  size_t strings_per_item = 0;
  // Size in bytes of the little-endian number that ends the arguments: 4 or 8;
  // 0: there is no such number.
  size_t number_bytes = 0;
};

ArgumentShape ArgumentsOf(StoreCommand command);

enum class ReplyShape {
  kNone,        // no reply is sent
  kNonce,       // a u32: the number that the request sent
  kByte,        // a u8, such as kStoreReady
  kNumber,      // an i64: a count or a sum
  kBytes,       // u64 length, bytes
  kManyBytes,   // for each requested key: u64 length, bytes; no count before
  kPopped,      // i64 queue length before the pop; if > 0: u64 length, bytes
  kStringList,  // i64 count, and as many strings
};

ReplyShape ReplyOf(StoreCommand command);

// Returns the command whose number is `byte` in `framing`; nullopt if there is
// none.
std::optional<StoreCommand> CommandFromByte(StoreFraming framing, uint8_t byte);

// Returns the command's name in PyTorch, such as "SET", for messages.
const char* CommandName(StoreCommand command);

// Magic number that VALIDATE sends.
inline constexpr uint32_t kStoreMagic = 0x3C85F7CE;

// The one-byte replies of the store. The comment of each constant names the
// request.
inline constexpr uint8_t kStoreReady = 0;     // reply to CHECK: all keys exist
inline constexpr uint8_t kStoreNotReady = 1;  // reply to CHECK: a key is absent
inline constexpr uint8_t kStoreStopWaiting = 0;   // reply to WAIT and BARRIER
inline constexpr uint8_t kStoreWaitCanceled = 1;  // reply to CANCEL_WAIT
// The first byte of a notification that WATCH_KEY has requested. The key, the
// old value and the new value follow.
inline constexpr uint8_t kStoreKeyUpdated = 0;  // the watched key was changed
inline constexpr uint8_t kStoreKeyCreated = 1;  // the watched key was created
inline constexpr uint8_t kStoreKeyDeleted = 2;  // the watched key was deleted
// The reply to WATCH_KEY, which comes before the notifications.
inline constexpr uint8_t kStoreWatchRegistered = 3;

// Limits of one request or reply, the same as PyTorch's.
inline constexpr size_t kMaxStoreKeys = size_t{128} << 10;
inline constexpr size_t kMaxStoreKeyBytes = size_t{8} << 10;
inline constexpr size_t kMaxStoreValueBytes = size_t{8} << 20;

// Limit of one request's total size. PyTorch has no such limit, so one
// MULTI_SET can make its server allocate a terabyte.
inline constexpr size_t kMaxStoreRequestBytes = size_t{64} << 20;

// Limit of one reply's total size. It is needed because a MULTI_GET may name
// one large key many times.
inline constexpr size_t kMaxStoreReplyBytes = size_t{256} << 20;

// One request to the store. The command determines which fields are used. The
// views refer to bytes that the request does not own: a parser's receive
// buffer, or the caller's strings.
struct StoreRequest {
  StoreCommand command = StoreCommand::kPing;
  // Used by SET, COMPARE_SET, GET, ADD, DELETE_KEY, APPEND, QUEUE_*, BARRIER
  // and WATCH_KEY.
  std::string_view key;
  // Used by SET, APPEND and QUEUE_PUSH; for COMPARE_SET the desired value.
  std::string_view value;
  // Used by COMPARE_SET: the value that the key must have now.
  std::string_view expected;
  // Used by CHECK, WAIT, MULTI_GET and MULTI_SET.
  std::vector<std::string_view> keys;
  // Used by MULTI_SET: the new value of each of `keys`, in the same order.
  std::vector<std::string_view> values;
  // ADD: the amount. BARRIER: the world size. PING: the nonce. VALIDATE: the
  // magic number. RELAY: the version of the frames.
  int64_t number = 0;
};

// Appends the request's bytes in the modern framing. The request must not
// exceed the limits kMaxStore…, beyond which the server closes the connection.
// A client starts every connection with VALIDATE (with kStoreMagic) and a PING,
// whose reply shows that a store answers.
void AppendRequest(const StoreRequest& request, std::string* out);

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
  //   ResourceExhausted  exceeds a limit of this file; the connection must be
  //                      closed
  absl::StatusOr<size_t> Parse(std::string_view buffer, StoreRequest* request);

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

#endif  // MUSTER_STORE_WIRE_REQUEST_H_
