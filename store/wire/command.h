#ifndef MUSTER_STORE_WIRE_COMMAND_H_
#define MUSTER_STORE_WIRE_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace muster::store {

// The requests of a client: the commands of PyTorch's TCPStore. The values are
// the numbers on the wire since PyTorch 2.1, except for the last two.
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
  // Command 7 in the old framing, where GETNUMKEYS is 6. Never sent in the
  // modern framing.
  kWatchKey = 64,
  // Muster's extension: from then on the connection carries frames of many
  // clients (relay_frames.h).
  kRelay = 128,
};

// The numbering of commands on a connection. Arguments and replies are the
// same.
enum class StoreFraming {
  kUnknown,  // Not enough bytes have arrived.
  kModern,   // PyTorch 2.1 and newer: VALIDATE comes first, SET is 1.
  kOld,      // Older: no VALIDATE, numbers one less up to GETNUMKEYS.
};

// The arguments after the command's byte, in this order.
struct ArgumentShape {
  // Number of strings (u64 length and bytes); the first is a key, the others
  // are values.
  size_t strings = 0;
  // If not 0: a u64 count follows, and this many strings for each item (a key;
  // or a key and its value).
  size_t strings_per_item = 0;
  // Size in bytes of the little-endian number at the end: 0, 4 or 8.
  size_t number_bytes = 0;
};

ArgumentShape ArgumentsOf(StoreCommand command);

enum class ReplyShape {
  kNone,        // no reply at all
  kNonce,       // u32
  kByte,        // u8
  kNumber,      // i64
  kBytes,       // u64 length, bytes
  kManyBytes,   // kBytes for each requested key, without a count
  kPopped,      // i64 previous length of the queue; bytes if it was above 0
  kStringList,  // i64 count, and as many strings
};

ReplyShape ReplyOf(StoreCommand command);

// Returns the command of a byte in this framing; nullopt if there is none.
std::optional<StoreCommand> CommandFromByte(StoreFraming framing, uint8_t byte);

// Returns PyTorch's name, such as "SET", for messages.
const char* CommandName(StoreCommand command);

// The argument of VALIDATE.
inline constexpr uint32_t kStoreMagic = 0x3C85F7CE;

// The replies of one byte.
inline constexpr uint8_t kStoreReady = 0;         // CHECK: all keys exist
inline constexpr uint8_t kStoreNotReady = 1;      // CHECK: not all exist
inline constexpr uint8_t kStoreStopWaiting = 0;   // WAIT, BARRIER
inline constexpr uint8_t kStoreWaitCanceled = 1;  // CANCEL_WAIT
// The changes of a key that WATCH_KEY reports; the key and both values follow.
inline constexpr uint8_t kStoreKeyUpdated = 0;  // value changed
inline constexpr uint8_t kStoreKeyCreated = 1;  // key created
inline constexpr uint8_t kStoreKeyDeleted = 2;  // key deleted
// Reply to WATCH_KEY itself.
inline constexpr uint8_t kStoreWatchRegistered = 3;

}  // namespace muster::store

#endif  // MUSTER_STORE_WIRE_COMMAND_H_
