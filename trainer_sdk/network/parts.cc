#include "trainer_sdk/network/parts.h"

#include "base/check.h"

namespace muster {

RankParts::RankParts(const std::vector<int64_t>& counts, int64_t count,
                     int size) {
  MUSTER_CHECK(counts.empty() || counts.size() == static_cast<size_t>(size));
  begins_.reserve(size + 1);
  begins_.push_back(0);
  for (int part = 0; part < size; ++part) {
    begins_.push_back(begins_.back() + (counts.empty() ? count : counts[part]));
  }
}

RankParts RankParts::Even(int64_t total, int size) {
  RankParts parts;
  for (int part = 0; part <= size; ++part) {
    // total / size first: total * part could overflow.
    const int64_t rest = total % size;
    parts.begins_.push_back(total / size * part + (rest < part ? rest : part));
  }
  return parts;
}

}  // namespace muster
