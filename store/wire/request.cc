#include "store/wire/request.h"

#include "base/check.h"
#include "base/little_endian.h"

namespace muster::store {
namespace {

struct Row {
  StoreCommand command;
  const char* name;
  ArgumentShape arguments;
  ReplyShape reply;
};

// The name, the arguments and the reply of each command from VALIDATE to
// BARRIER. The index of a row is the command's number in the modern framing.
constexpr Row kRows[] = {
    {StoreCommand::kValidate, "VALIDATE", {0, 0, 4}, ReplyShape::kNone},
    {StoreCommand::kSet, "SET", {2, 0, 0}, ReplyShape::kNone},
    {StoreCommand::kCompareSet, "COMPARE_SET", {3, 0, 0}, ReplyShape::kBytes},
    {StoreCommand::kGet, "GET", {1, 0, 0}, ReplyShape::kBytes},
    {StoreCommand::kAdd, "ADD", {1, 0, 8}, ReplyShape::kNumber},
    {StoreCommand::kCheck, "CHECK", {0, 1, 0}, ReplyShape::kByte},
    {StoreCommand::kWait, "WAIT", {0, 1, 0}, ReplyShape::kByte},
    {StoreCommand::kNumKeys, "GETNUMKEYS", {0, 0, 0}, ReplyShape::kNumber},
    {StoreCommand::kDelete, "DELETE_KEY", {1, 0, 0}, ReplyShape::kNumber},
    {StoreCommand::kAppend, "APPEND", {2, 0, 0}, ReplyShape::kNone},
    {StoreCommand::kMultiGet, "MULTI_GET", {0, 1, 0}, ReplyShape::kManyBytes},
    {StoreCommand::kMultiSet, "MULTI_SET", {0, 2, 0}, ReplyShape::kNone},
    {StoreCommand::kCancelWait, "CANCEL_WAIT", {0, 0, 0}, ReplyShape::kByte},
    {StoreCommand::kPing, "PING", {0, 0, 4}, ReplyShape::kNonce},
    {StoreCommand::kQueuePush, "QUEUE_PUSH", {2, 0, 0}, ReplyShape::kNone},
    {StoreCommand::kQueuePop, "QUEUE_POP", {1, 0, 0}, ReplyShape::kPopped},
    {StoreCommand::kQueueLen, "QUEUE_LEN", {1, 0, 0}, ReplyShape::kNumber},
    {StoreCommand::kListKeys, "LIST_KEYS", {0, 0, 0}, ReplyShape::kStringList},
    {StoreCommand::kBarrier, "BARRIER", {1, 0, 8}, ReplyShape::kByte},
};

constexpr Row kWatchKeyRow = {
    StoreCommand::kWatchKey, "WATCH_KEY", {1, 0, 0}, ReplyShape::kByte};

constexpr Row kRelayRow = {
    StoreCommand::kRelay, "RELAY", {0, 0, 4}, ReplyShape::kNonce};

const Row& RowOf(StoreCommand command) {
  if (command == StoreCommand::kWatchKey) return kWatchKeyRow;
  if (command == StoreCommand::kRelay) return kRelayRow;
  return kRows[static_cast<size_t>(command)];
}

// Command numbers of GETNUMKEYS and WATCH_KEY in the old framing, which has no
// VALIDATE, PING, queues, lists or barriers. Without VALIDATE, each number up
// to that of GETNUMKEYS is one lower than in the modern framing.
constexpr uint8_t kOldNumKeys = 6;
constexpr uint8_t kOldWatchKey = 7;

}  // namespace

ArgumentShape ArgumentsOf(StoreCommand command) {
  return RowOf(command).arguments;
}

ReplyShape ReplyOf(StoreCommand command) { return RowOf(command).reply; }

const char* CommandName(StoreCommand command) { return RowOf(command).name; }

std::optional<StoreCommand> CommandFromByte(StoreFraming framing,
                                            uint8_t byte) {
  if (framing == StoreFraming::kModern) {
    if (byte == static_cast<uint8_t>(StoreCommand::kRelay)) {
      return StoreCommand::kRelay;
    }
    if (byte > static_cast<uint8_t>(StoreCommand::kBarrier)) return {};
    return static_cast<StoreCommand>(byte);
  }
  if (framing != StoreFraming::kOld) return {};
  if (byte <= kOldNumKeys) return static_cast<StoreCommand>(byte + 1);
  if (byte == kOldWatchKey) return StoreCommand::kWatchKey;
  if (byte <= static_cast<uint8_t>(StoreCommand::kCancelWait)) {
    return static_cast<StoreCommand>(byte);
  }
  return {};
}

void AppendRequest(const StoreRequest& request, std::string* out) {
  MUSTER_CHECK(request.command != StoreCommand::kWatchKey)
      << "the modern framing has no WATCH_KEY";
  const ArgumentShape shape = ArgumentsOf(request.command);
  out->push_back(static_cast<char>(request.command));
  if (shape.strings >= 1) AppendString(request.key, out);
  if (shape.strings == 3) AppendString(request.expected, out);
  if (shape.strings >= 2) AppendString(request.value, out);
  if (shape.strings_per_item > 0) {
    AppendInteger<uint64_t>(request.keys.size(), out);
    for (size_t i = 0; i < request.keys.size(); ++i) {
      AppendString(request.keys[i], out);
      if (shape.strings_per_item == 2) AppendString(request.values[i], out);
    }
  }
  if (shape.number_bytes == 4) {
    AppendInteger(static_cast<uint32_t>(request.number), out);
  } else if (shape.number_bytes == 8) {
    AppendInteger(request.number, out);
  }
}

}  // namespace muster::store
