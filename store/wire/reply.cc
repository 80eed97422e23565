#include "store/wire/reply.h"

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

size_t NumberBytes(ReplyShape shape) {
  switch (shape) {
    case ReplyShape::kByte:
      return 1;
    case ReplyShape::kNonce:
      return 4;
    case ReplyShape::kNumber:
    case ReplyShape::kPopped:
    case ReplyShape::kStringList:
      return 8;
    case ReplyShape::kNone:
    case ReplyShape::kBytes:
    case ReplyShape::kManyBytes:
      return 0;
  }
  return 0;
}

}  // namespace

ReplyParser::ReplyParser(StoreCommand command, size_t keys)
    : shape_(ReplyOf(command)) {
  if (shape_ == ReplyShape::kBytes) strings_wanted_ = 1;
  if (shape_ == ReplyShape::kManyBytes) strings_wanted_ = keys;
}

absl::StatusOr<bool> ReplyParser::TakeNumber(std::string_view buffer,
                                             StoreReply* reply) {
  const size_t bytes = NumberBytes(shape_);
  if (buffer.size() < bytes) return false;
  if (bytes == 1) reply->number = static_cast<uint8_t>(buffer[0]);
  if (bytes == 4) reply->number = ReadInteger<uint32_t>(buffer);
  if (bytes == 8) reply->number = ReadInteger<int64_t>(buffer);
  if (shape_ == ReplyShape::kPopped || shape_ == ReplyShape::kStringList) {
    if (reply->number < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the store counts ", reply->number, " elements"));
    }
    strings_wanted_ = shape_ == ReplyShape::kStringList
                          ? static_cast<size_t>(reply->number)
                          : (reply->number > 0 ? 1 : 0);
  }
  at_ = bytes;
  number_taken_ = true;
  return true;
}

absl::StatusOr<size_t> ReplyParser::Parse(std::string_view buffer,
                                          StoreReply* reply) {
  if (!number_taken_) {
    reply->strings.clear();
    const absl::StatusOr<bool> taken = TakeNumber(buffer, reply);
    if (!taken.ok()) return taken.status();
    if (!*taken) return 0;
  }
  while (reply->strings.size() < strings_wanted_) {
    if (buffer.size() - at_ < sizeof(uint64_t)) return 0;
    const uint64_t size = ReadInteger<uint64_t>(buffer.substr(at_));
    if (size > kMaxStoreValueBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("the store announces a value of ", size,
                       " bytes; at most ", kMaxStoreValueBytes));
    }
    if (buffer.size() - at_ - sizeof(uint64_t) < size) return 0;
    reply->strings.emplace_back(buffer.substr(at_ + sizeof(uint64_t), size));
    at_ += sizeof(uint64_t) + size;
  }
  return at_;
}

}  // namespace muster::store
