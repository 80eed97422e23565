#include "nccl/unique_id.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster::nccl {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

int ValueOf(char digit) {
  const char* const found =
      digit == '\0' ? nullptr : std::strchr(kDigits, digit);
  return found == nullptr ? -1 : static_cast<int>(found - kDigits);
}

}  // namespace

std::string HexOf(const NcclUniqueId& id) {
  std::string hex;
  hex.reserve(2 * kNcclUniqueIdBytes);
  for (const char byte : id.internal) {
    hex += kDigits[static_cast<unsigned char>(byte) >> 4];
    hex += kDigits[byte & 0xf];
  }
  return hex;
}

absl::StatusOr<NcclUniqueId> NcclUniqueIdOf(const std::string& hex) {
  NcclUniqueId id;
  const auto invalid = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("an NCCL id is ", 2 * kNcclUniqueIdBytes,
                     " hexadecimal digits in lower case; this is none, of ",
                     hex.size(), " characters"));
  };
  if (hex.size() != 2 * kNcclUniqueIdBytes) return invalid();
  for (int i = 0; i < kNcclUniqueIdBytes; ++i) {
    const int high = ValueOf(hex[2 * i]);
    const int low = ValueOf(hex[2 * i + 1]);
    if (high < 0 || low < 0) return invalid();
    id.internal[i] = static_cast<char>(high << 4 | low);
  }
  return id;
}

}  // namespace muster::nccl
