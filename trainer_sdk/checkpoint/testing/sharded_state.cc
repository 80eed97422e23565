#include "trainer_sdk/checkpoint/testing/sharded_state.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"

namespace muster {
namespace {

bool IsWeight(const CheckpointTensor& tensor) { return tensor.name[0] == 'w'; }

// The value that byte number `byte` of the tensor's data has at `step`.
unsigned char Pattern(const CheckpointTensor& tensor, int64_t byte,
                      int64_t step) {
  const uint64_t n = FnvHashOf(tensor.name) + static_cast<uint64_t>(byte) * 7 +
                     static_cast<uint64_t>(step) * 31;
  return static_cast<unsigned char>((n * 0x9e3779b97f4a7c15u) >> 56);
}

}  // namespace

const char* Name(Sharding sharding) {
  switch (sharding) {
    case Sharding::kReplicated:
      return "replicated";
    case Sharding::kFlat:
      return "flat";
    case Sharding::kStages:
      return "stages";
    case Sharding::kMixed:
      return "mixed";
    case Sharding::kOverlapping:
      return "overlapping";
  }
  return "?";
}

const std::vector<CheckpointTensor>& ShardedState::Tensors() {
  static const auto* tensors = new std::vector<CheckpointTensor>{
      {"w.embedding", DType::kFloat32, {17, 4}},
      {"w.matrix", DType::kBFloat16, {5, 6}},
      {"w.vector", DType::kFloat32, {7}},
      {"w.empty", DType::kFloat32, {0, 4}},
      {"w.half", DType::kFloat16, {9}},
      {"w.bytes", DType::kInt8, {13}},
      // The name of this tensor looks like the name of a stored range: elements
      // [0, 3) of the tensor w.vector.
      {"w.vector[0:3]", DType::kInt32, {3}},
      {"mean.embedding", DType::kFloat32, {17, 4}},
      {"mean.matrix", DType::kFloat32, {5, 6}},
      {"mean.double", DType::kFloat64, {11}},
      {"mean.steps", DType::kInt64, {}},
  };
  return *tensors;
}

ShardedState::ShardedState(Sharding sharding, int rank, int ranks) {
  int64_t total = 0;
  for (const CheckpointTensor& tensor : Tensors()) total += tensor.count();
  int64_t before = 0;
  int index = 0;
  for (const CheckpointTensor& tensor : Tensors()) {
    const int64_t count = tensor.count();
    const auto cut = [&](int64_t at) {
      return std::clamp<int64_t>(total * at / ranks - before, 0, count);
    };
    switch (sharding) {
      case Sharding::kReplicated:
        Add(tensor, 0, count);
        break;
      case Sharding::kFlat:
        Add(tensor, cut(rank), cut(rank + 1));
        break;
      case Sharding::kStages:
        if (index % ranks == rank || (index == 0 && rank == ranks - 1)) {
          Add(tensor, 0, count);
        }
        break;
      case Sharding::kMixed:
        if (IsWeight(tensor)) {
          Add(tensor, 0, count);
        } else {
          Add(tensor, cut(rank), cut(rank + 1));
        }
        break;
      case Sharding::kOverlapping:
        Add(tensor, std::max<int64_t>(0, cut(rank) - 3), cut(rank + 1));
        Add(tensor, cut(rank), std::min(count, cut(rank + 1) + rank));
        break;
    }
    before += count;
    ++index;
  }
}

void ShardedState::Add(const CheckpointTensor& tensor, int64_t begin,
                       int64_t end) {
  const auto bytes = static_cast<size_t>((end - begin) * SizeOf(tensor.dtype));
  // One byte is added, so that the memory of a slice without elements has an
  // address too.
  memory_.emplace_back(bytes + 1);
  slices_.push_back({.tensor = tensor,
                     .begin = begin,
                     .end = end,
                     .data = memory_.back().data()});
}

void ShardedState::Fill(int64_t step) {
  for (size_t i = 0; i < slices_.size(); ++i) {
    const CheckpointSlice& slice = slices_[i];
    const int64_t first = slice.begin * SizeOf(slice.tensor.dtype);
    for (size_t k = 0; k + 1 < memory_[i].size(); ++k) {
      memory_[i][k] =
          Pattern(slice.tensor, first + static_cast<int64_t>(k), step);
    }
  }
}

void ShardedState::Clear() {
  for (auto& bytes : memory_) std::fill(bytes.begin(), bytes.end(), 0);
}

absl::Status ShardedState::Check(int64_t step) const {
  for (size_t i = 0; i < slices_.size(); ++i) {
    const CheckpointSlice& slice = slices_[i];
    const int64_t first = slice.begin * SizeOf(slice.tensor.dtype);
    for (size_t k = 0; k + 1 < memory_[i].size(); ++k) {
      const unsigned char expected =
          Pattern(slice.tensor, first + static_cast<int64_t>(k), step);
      if (memory_[i][k] == expected) continue;
      return absl::InternalError(absl::StrCat(
          slice.tensor.name, " [", slice.begin, ",", slice.end, ") has at ", k,
          " the byte ", memory_[i][k], ", not ", expected));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
