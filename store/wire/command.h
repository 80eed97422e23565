#ifndef MUSTER_STORE_WIRE_COMMAND_H_
#define MUSTER_STORE_WIRE_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace muster {

// What a client may ask of a round's key-value store: the commands of
// PyTorch's TCPStore. The numbers are those on the wire of PyTorch 2.1 and
// newer, save the last two.
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
  // Number 7 in the old framing, where GETNUMKEYS is 6. Never on a modern wire.
  kWatchKey = 64,
  // Ours: what follows on this connection are frames of many clients
  // (relay_frames.h).
  kRelay = 128,
};

// How a connection numbers its commands. Arguments and replies are alike.
enum class StoreFraming {
  kUnknown,  // Too few bytes have come.
  kModern,   // PyTorch 2.1 and newer: VALIDATE comes first, SET is 1.
  kOld,      // Before: no VALIDATE, SET is 0, one less up to GETNUMKEYS.
};

// What follows the command's byte, in this order.
struct ArgumentShape {
  // Strings (u64 length and bytes), the first a key and the others values.
  size_t strings = 0;
  // Where not 0: an u64 count, and so many strings for each (a key; or a key
  // and its value).
  size_t strings_per_item = 0;
  // Bytes of the little-endian number at the end: 0, 4 or 8.
  size_t number_bytes = 0;
};

ArgumentShape ArgumentsOf(StoreCommand command);

enum class ReplyShape {
  kNone,        // No reply at all.
  kNonce,       // u32
  kByte,        // u8
  kNumber,      // i64
  kBytes,       // u64 length, bytes
  kManyBytes,   // One of those for each key asked for; the number is not said.
  kPopped,      // i64 length of the queue before; bytes if it was above 0.
  kStringList,  // i64 count, and so many strings.
};

ReplyShape ReplyOf(StoreCommand command);

// The command that a byte means in this framing; none if it means none.
std::optional<StoreCommand> CommandFromByte(StoreFraming framing, uint8_t byte);

// "SET", as PyTorch calls it: for messages.
const char* CommandName(StoreCommand command);

// The argument of VALIDATE.
inline constexpr uint32_t kStoreMagic = 0x3C85F7CE;

// The replies of one byte.
inline constexpr uint8_t kStoreReady = 0;            // CHECK: all are there
inline constexpr uint8_t kStoreNotReady = 1;         // CHECK: not all
inline constexpr uint8_t kStoreStopWaiting = 0;      // WAIT, BARRIER
inline constexpr uint8_t kStoreWaitCanceled = 1;     // CANCEL_WAIT
inline constexpr uint8_t kStoreKeyUpdated = 0;       // WATCH_KEY: of a watched
inline constexpr uint8_t kStoreKeyCreated = 1;       // key; then the key and
inline constexpr uint8_t kStoreKeyDeleted = 2;       // both values follow.
inline constexpr uint8_t kStoreWatchRegistered = 3;  // WATCH_KEY: at once

}  // namespace muster

#endif  // MUSTER_STORE_WIRE_COMMAND_H_
