#include "base/checksum.h"

#include <xxhash.h>

#include "absl/strings/str_format.h"
#include "base/check.h"

namespace muster {

Checksum::Checksum() : state_(XXH3_createState()) {
  MUSTER_CHECK(state_ != nullptr) << "no memory";
  XXH3_64bits_reset(state_.get());
}

void Checksum::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

void Checksum::Add(std::string_view bytes) {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

uint64_t Checksum::value() const { return XXH3_64bits_digest(state_.get()); }

std::string ChecksumText(uint64_t checksum) {
  return absl::StrFormat("%016x", checksum);
}

}  // namespace muster
