#include "base/checksum.h"

#include <xxhash.h>

#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/checksum_avx2.h"
#include "base/processor_kind.h"

namespace muster {
namespace {

void AddToXxh3(void* state, const void* data, size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), data, size);
}

}  // namespace

Checksum::Checksum() : state_(XXH3_createState()) {
  MUSTER_CHECK(state_ != nullptr) << "no memory";
  XXH3_64bits_reset(state_.get());
}

void Checksum::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

void Checksum::Add(std::string_view bytes) {
  static const bool wide = ChosenProcessorKind() != ProcessorKind::kBaseline;
  (wide ? AddToXxh3WithAvx2 : AddToXxh3)(state_.get(), bytes.data(),
                                         bytes.size());
}

uint64_t Checksum::value() const { return XXH3_64bits_digest(state_.get()); }

std::string ChecksumText(uint64_t checksum) {
  return absl::StrFormat("%016x", checksum);
}

}  // namespace muster
