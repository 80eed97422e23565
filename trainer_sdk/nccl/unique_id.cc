#include "trainer_sdk/nccl/unique_id.h"

#include <atomic>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nccl/nccl_library.h"

namespace muster {
namespace {

constexpr char kIdKey[] = "nccl_id";

}  // namespace

std::string TakeWorldNcclId() {
  static std::atomic<bool> taken = false;
  const char* const id = std::getenv("MUSTER_NCCL_ID");
  if (id == nullptr || taken.exchange(true)) return "";
  return id;
}

absl::StatusOr<nccl::NcclUniqueId> AgreeOnNcclId(const nccl::NcclLibrary& nccl,
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
    absl::StatusOr<nccl::NcclUniqueId> id = nccl::NcclUniqueIdOf(*said);
    if (id.ok()) return id;
    return absl::UnavailableError(absl::StrCat("rank 0 of group \"", place.name,
                                               "\" has no NCCL id: ", *said));
  }
  nccl::NcclUniqueId id;
  const nccl::NcclResult result = nccl.GetUniqueId(&id);
  if (result != nccl::kNcclSuccess) {
    const absl::Status failed = absl::UnavailableError(
        absl::StrCat("NCCL ", nccl.VersionText(),
                     " makes no id: ", nccl.Explain(result, nullptr)));
    TellThatThereIsNoNcclId(place, failed);
    return failed;
  }
  const absl::Status set = place.store->Set(kIdKey, nccl::HexOf(id));
  if (!set.ok()) return set;
  return id;
}

void TellThatThereIsNoNcclId(const GroupPlace& place, const absl::Status& why) {
  place.store->Set(kIdKey, std::string(why.message())).IgnoreError();
}

}  // namespace muster
