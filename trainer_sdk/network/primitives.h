#ifndef MUSTER_TRAINER_SDK_NETWORK_PRIMITIVES_H_
#define MUSTER_TRAINER_SDK_NETWORK_PRIMITIVES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/network/mesh.h"

namespace muster {

// A buffer for received data that is to be reduced. Its memory is reused by
// later operations, because allocating new memory pages takes longer than a
// small operation.
class Scratch {
 public:
  // Returns at least `bytes` bytes of uninitialised memory. Memory returned by
  // earlier calls becomes invalid.
  char* Get(int64_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      memory_ = std::make_unique_for_overwrite<std::max_align_t[]>(
          bytes / sizeof(std::max_align_t) + 1);
      bytes_ = bytes;
    }
    return reinterpret_cast<char*>(memory_.get());
  }

 private:
  std::unique_ptr<std::max_align_t[]> memory_;
  int64_t bytes_ = 0;
};

// Divides consecutive elements among the ranks: rank r has the elements
// [begin(r), begin(r) + count(r)). Pure.
class RankParts {
 public:
  // Makes parts for an Operation with these counts: counts[r] elements for rank
  // r, or `count` elements for each rank if `counts` is empty.
  RankParts(const std::vector<int64_t>& counts, int64_t count, int size);

  // Divides `total` elements into `size` parts whose lengths differ by at most
  // one.
  static RankParts Even(int64_t total, int size);

  int64_t begin(int part) const { return begins_[part]; }
  int64_t count(int part) const { return begins_[part + 1] - begins_[part]; }
  int64_t total() const { return begins_.back(); }

 private:
  RankParts() = default;
  // index of each part's first element, followed by the total number of
  // elements
  std::vector<int64_t> begins_;
};

// The functions below are building blocks of collectives. All ranks of the mesh
// must call the same function. `element` is the size of an element in bytes.

// kSegmentBytes: the number of bytes that are received before they are reduced
// or forwarded. A segment is small enough that the data is still in the cache,
// and large enough to be worth a system call.
inline constexpr int64_t kSegmentBytes = 128 << 10;

// How a collective combines the elements of all ranks: the elements' type and
// the operation. To compute an average (AVG), all steps of a collective except
// the last compute sums, and the last step divides.
struct Reduction {
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
};

// Copies `bytes` bytes, unless `to` and `from` are the same address.
void CopyUnlessSame(void* to, const void* from, int64_t bytes);

// Every rank r sends part r of its `whole` to all other ranks. Afterwards,
// `whole` is complete on every rank.
absl::Status GatherToAll(Mesh& mesh, const RankParts& parts, int64_t element,
                         void* whole);

// Every rank r sends its buffer `own` to the root, which stores it as part r of
// `whole`.
absl::Status GatherToRoot(Mesh& mesh, const RankParts& parts, int64_t element,
                          int root, const void* own, void* whole);

// The root sends part r of `whole` to every rank r, which stores it in its
// buffer `own`.
absl::Status ScatterFromRoot(Mesh& mesh, const RankParts& parts,
                             int64_t element, int root, const void* whole,
                             void* own);

// Reduces the `input` of all ranks, in rank order. Rank r gets part r of the
// result in `output`, which may be the memory of part r of its own input.
absl::Status ReduceToOwners(Mesh& mesh, const RankParts& parts,
                            Reduction reduction, const void* input,
                            void* output, Scratch& scratch);

// Sends the root's `data` to all ranks, along a binomial tree.
absl::Status BroadcastDownTree(Mesh& mesh, int root, void* data, int64_t bytes);

// A barrier (dissemination algorithm): returns only after every rank has called
// it.
absl::Status Disseminate(Mesh& mesh);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_PRIMITIVES_H_
