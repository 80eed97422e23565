#ifndef MUSTER_TRAINER_SDK_NETWORK_PARTS_H_
#define MUSTER_TRAINER_SDK_NETWORK_PARTS_H_

#include <cstdint>
#include <vector>

namespace muster {

// The assignment of consecutive elements to ranks: part r is [begin(r),
// begin(r) + count(r)). Pure.
class RankParts {
 public:
  // From the fields of an Operation: `counts`, or `count` for each rank if that
  // is empty.
  RankParts(const std::vector<int64_t>& counts, int64_t count, int size);

  // Divides `total` elements into `size` parts whose lengths differ by at most
  // one.
  static RankParts Even(int64_t total, int size);

  int64_t begin(int part) const { return begins_[part]; }
  int64_t count(int part) const { return begins_[part + 1] - begins_[part]; }
  int64_t total() const { return begins_.back(); }

 private:
  RankParts() = default;
  std::vector<int64_t> begins_;  // size() is the number of parts + 1
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_PARTS_H_
