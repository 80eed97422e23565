#include "trainer_sdk/nccl/unique_id.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr char kIdKey[] = "nccl_id";
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

std::string TakeWorldNcclId() {
  static std::atomic<bool> taken = false;
  const char* const id = std::getenv("MUSTER_NCCL_ID");
  if (id == nullptr || taken.exchange(true)) return "";
  return id;
}

absl::StatusOr<NcclUniqueId> AgreeOnNcclId(const NcclLibrary& nccl,
                                           const GroupPlace& place,
                                           Instant deadline) {
  if (place.rank != 0) {
    const absl::StatusOr<std::string> said = place.store->Get(kIdKey, deadline);
    if (!said.ok()) {
      return absl::Status(
          said.status().code(),
          absl::StrCat("rank 0 of group \"", place.name,
                       "\" has made no NCCL id: ", said.status().message()));
    }
    absl::StatusOr<NcclUniqueId> id = NcclUniqueIdOf(*said);
    if (id.ok()) return id;
    return absl::UnavailableError(absl::StrCat("rank 0 of group \"", place.name,
                                               "\" has no NCCL id: ", *said));
  }
  NcclUniqueId id;
  const NcclResult result = nccl.GetUniqueId(&id);
  if (result != kNcclSuccess) {
    const absl::Status failed = absl::UnavailableError(
        absl::StrCat("NCCL ", nccl.VersionText(),
                     " makes no id: ", nccl.Explain(result, nullptr)));
    TellThatThereIsNoNcclId(place, failed);
    return failed;
  }
  const absl::Status set = place.store->Set(kIdKey, HexOf(id));
  if (!set.ok()) return set;
  return id;
}

void TellThatThereIsNoNcclId(const GroupPlace& place, const absl::Status& why) {
  place.store->Set(kIdKey, std::string(why.message())).IgnoreError();
}

}  // namespace muster
