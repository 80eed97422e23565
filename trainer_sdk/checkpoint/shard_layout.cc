#include "trainer_sdk/checkpoint/shard_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"

namespace muster {
namespace {

bool IsWhole(const SliceRange& range) {
  return range.begin == 0 && range.end == range.tensor.count();
}

}  // namespace

std::string ShardFileName(int rank) {
  return absl::StrFormat("rank-%05d.safetensors", rank);
}

std::string ShardEntryName(const SliceRange& range) {
  const std::string& name = range.tensor.name;
  if (IsWhole(range) && name.back() != ']') return name;
  return absl::StrCat(name, "[", range.begin, ":", range.end, "]");
}

SliceIndex::SliceIndex(const std::vector<SliceRange>& own) : own_(own) {
  for (size_t i = 0; i < own.size(); ++i) {
    by_name_.emplace(own[i].tensor.name, i);
  }
}

std::vector<ShardCopy> SliceIndex::CopiesOf(const SliceRange& range,
                                            int64_t to) const {
  std::vector<ShardCopy> copies;
  const int64_t size = SizeOf(range.tensor.dtype);
  const auto [first, last] = by_name_.equal_range(range.tensor.name);
  int64_t at = range.begin;
  while (at < range.end) {
    const int64_t before = at;
    for (auto it = first; it != last; ++it) {
      const SliceRange& slice = own_[it->second];
      if (slice.begin > at || slice.end <= at) continue;
      const int64_t end = std::min(slice.end, range.end);
      copies.push_back({.slice = it->second,
                        .from = (at - slice.begin) * size,
                        .to = to + (at - range.begin) * size,
                        .bytes = (end - at) * size});
      at = end;
      if (at == range.end) break;
    }
    MUSTER_CHECK(at > before) << "a range that the rank does not have";
  }
  return copies;
}

absl::StatusOr<ShardLayout> LayOutShard(const std::vector<SliceRange>& own,
                                        const std::vector<SliceRange>& share) {
  ShardLayout layout;
  std::map<std::string, const SliceRange*> ranges;  // by the name of the entry
  for (const SliceRange& range : share) {
    SafetensorsTensor entry;
    entry.name = ShardEntryName(range);
    entry.type = SafetensorsTypeOf(range.tensor.dtype);
    entry.shape = range.tensor.shape;
    if (!IsWhole(range)) entry.shape = {range.end - range.begin};
    ranges.emplace(entry.name, &range);
    layout.header.tensors.push_back(std::move(entry));
  }
  absl::Status placed = PlaceSafetensors(&layout.header.tensors);
  if (!placed.ok()) return placed;

  const SliceIndex slices(own);
  for (const SafetensorsTensor& entry : layout.header.tensors) {
    const std::vector<ShardCopy> copies =
        slices.CopiesOf(*ranges.at(entry.name), entry.begin);
    layout.copies.insert(layout.copies.end(), copies.begin(), copies.end());
  }
  return layout;
}

}  // namespace muster
