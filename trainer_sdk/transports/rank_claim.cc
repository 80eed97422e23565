#include "trainer_sdk/transports/rank_claim.h"

#include <unistd.h>

#include <cstdint>
#include <random>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/network/mesh.h"

namespace muster {
namespace {

uint64_t ProcessNonce() {
  static const uint64_t nonce = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }();
  return nonce;
}

}  // namespace

std::string ProcessIdentity() {
  // The identity contains the pid beside a random number (nonce), because a
  // forked child process inherits the random number of its parent.
  const PeerName own = OwnName(0);
  return absl::StrCat("pid ", own.pid, " on ", own.host, " (",
                      absl::Hex(ProcessNonce()), ")");
}

absl::Status ClaimRank(Store& store, int rank, const std::string& process) {
  const absl::StatusOr<std::string> owner =
      store.CompareSet(absl::StrCat("member/", rank), "", process);
  if (!owner.ok()) return owner.status();
  if (*owner == process) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "its rank ", rank, " is another process already, ",
      owner->substr(0, owner->rfind(" (")),
      ": groups that are made over one store need different names"));
}

}  // namespace muster
