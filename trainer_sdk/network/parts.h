#ifndef MUSTER_TRAINER_SDK_NETWORK_PARTS_H_
#define MUSTER_TRAINER_SDK_NETWORK_PARTS_H_

#include <cstdint>
#include <vector>

namespace muster {

// How elements one after another belong to ranks: part r is the elements
// [begin(r), begin(r) + count(r)). Pure.
class RankParts {
 public:
  // What an operation says: `counts`, or where it is empty `count` for each.
  RankParts(const std::vector<int64_t>& counts, int64_t count, int size);

  // `total` elements in `size` parts that differ by at most one.
  static RankParts Even(int64_t total, int size);

  int64_t begin(int part) const { return begins_[part]; }
  int64_t count(int part) const { return begins_[part + 1] - begins_[part]; }
  int64_t total() const { return begins_.back(); }

 private:
  RankParts() = default;
  std::vector<int64_t> begins_;  // one more than there are parts
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_PARTS_H_
