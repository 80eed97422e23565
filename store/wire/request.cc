#include "store/wire/request.h"

#include "absl/strings/str_cat.h"
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

// Size in bytes of a VALIDATE request: the command's byte and a number of 4
// bytes.
constexpr size_t kOpeningBytes = 5;
// Maximum number of strings for which the memory of `spans_` is kept for the
// next request. After a larger request, which is rare, the memory is freed.
constexpr size_t kUsualStrings = 64;

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

bool RequestParser::Has(std::string_view buffer, size_t bytes) {
  if (buffer.size() - at_ >= bytes) return true;
  wanted_ = at_ + bytes;
  return false;
}

bool RequestParser::IsKey(size_t index) const {
  if (shape_.strings_per_item == 0) return index == 0;
  return index % shape_.strings_per_item == 0;
}

absl::StatusOr<bool> RequestParser::TakeCommand(std::string_view buffer) {
  if (!Has(buffer, 1)) return false;
  const auto byte = static_cast<uint8_t>(buffer[0]);
  if (framing_ == StoreFraming::kUnknown) {
    // Byte 0 is VALIDATE in the modern framing and SET in the old one. The next
    // four bytes decide: in the old framing, VALIDATE's magic number would be
    // an invalid length of a key.
    if (byte == 0 && !Has(buffer, kOpeningBytes)) return false;
    const bool magic =
        byte == 0 && ReadInteger<uint32_t>(buffer.substr(1)) == kStoreMagic;
    framing_ = magic ? StoreFraming::kModern : StoreFraming::kOld;
  }
  const auto command = CommandFromByte(framing_, byte);
  if (!command) {
    return absl::InvalidArgumentError(absl::StrCat(
        "command ", static_cast<int>(byte), " is none of the store's"));
  }
  const bool opens = framing_ == StoreFraming::kModern && !validated_;
  if ((*command == StoreCommand::kValidate) != opens) {
    return absl::InvalidArgumentError(
        "VALIDATE comes once, before everything else");
  }
  command_ = *command;
  shape_ = ArgumentsOf(command_);
  at_ = 1;
  strings_wanted_ = shape_.strings;
  stage_ = shape_.strings_per_item > 0 ? Stage::kCount : Stage::kStrings;
  return true;
}

absl::StatusOr<bool> RequestParser::TakeCount(std::string_view buffer) {
  if (!Has(buffer, sizeof(uint64_t))) return false;
  const auto count = ReadInteger<uint64_t>(buffer.substr(at_));
  if (count > kMaxStoreKeys) {
    return absl::ResourceExhaustedError(
        absl::StrCat(CommandName(command_), " of ", count, " keys; at most ",
                     kMaxStoreKeys, " in one request"));
  }
  at_ += sizeof(uint64_t);
  strings_wanted_ = count * shape_.strings_per_item;
  stage_ = Stage::kStrings;
  return true;
}

absl::StatusOr<bool> RequestParser::TakeStrings(std::string_view buffer) {
  while (spans_.size() < strings_wanted_) {
    if (!Has(buffer, sizeof(uint64_t))) return false;
    const auto size = ReadInteger<uint64_t>(buffer.substr(at_));
    const bool key = IsKey(spans_.size());
    const size_t most = key ? kMaxStoreKeyBytes : kMaxStoreValueBytes;
    if (size > most) {
      return absl::ResourceExhaustedError(
          absl::StrCat(CommandName(command_), " with a ", key ? "key" : "value",
                       " of ", size, " bytes; at most ", most));
    }
    if (at_ + sizeof(uint64_t) + size > kMaxStoreRequestBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(CommandName(command_), " of more than ",
                       kMaxStoreRequestBytes, " bytes in one request"));
    }
    if (!Has(buffer, sizeof(uint64_t) + size)) return false;
    spans_.push_back({at_ + sizeof(uint64_t), static_cast<size_t>(size)});
    at_ += sizeof(uint64_t) + size;
  }
  stage_ = Stage::kNumber;
  return true;
}

void RequestParser::Fill(std::string_view buffer, StoreRequest* request) const {
  const auto text = [&](size_t index) {
    return buffer.substr(spans_[index].at, spans_[index].size);
  };
  request->command = command_;
  request->keys.clear();
  request->values.clear();
  if (shape_.strings_per_item > 0) {
    for (size_t i = 0; i < spans_.size(); i += shape_.strings_per_item) {
      request->keys.push_back(text(i));
      if (shape_.strings_per_item == 2) request->values.push_back(text(i + 1));
    }
  }
  request->key = shape_.strings >= 1 ? text(0) : std::string_view();
  request->expected = shape_.strings == 3 ? text(1) : std::string_view();
  request->value =
      shape_.strings >= 2 ? text(shape_.strings - 1) : std::string_view();
  const std::string_view number = buffer.substr(at_);
  request->number = 0;
  if (shape_.number_bytes == 4) {
    request->number = ReadInteger<uint32_t>(number);
  } else if (shape_.number_bytes == 8) {
    request->number = ReadInteger<int64_t>(number);
  }
}

absl::StatusOr<size_t> RequestParser::Parse(std::string_view buffer,
                                            StoreRequest* request) {
  if (buffer.size() < wanted_) return 0;
  absl::StatusOr<bool> done = true;
  if (stage_ == Stage::kCommand) done = TakeCommand(buffer);
  if (done.ok() && *done && stage_ == Stage::kCount) done = TakeCount(buffer);
  if (done.ok() && *done && stage_ == Stage::kStrings) {
    done = TakeStrings(buffer);
  }
  if (!done.ok()) return done.status();
  if (!*done || !Has(buffer, shape_.number_bytes)) return 0;
  Fill(buffer, request);
  validated_ = true;
  const size_t length = at_ + shape_.number_bytes;
  stage_ = Stage::kCommand;
  at_ = 0;
  wanted_ = 1;
  spans_.clear();
  if (spans_.capacity() > kUsualStrings) spans_.shrink_to_fit();
  return length;
}

}  // namespace muster::store
