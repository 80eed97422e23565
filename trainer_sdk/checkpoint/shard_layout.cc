#include "trainer_sdk/checkpoint/shard_layout.h"

#include <algorithm>
#include <map>
#include <string_view>

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

absl::StatusOr<ShardLayout> LayOutShard(const std::vector<SliceRange>& own,
                                        const std::vector<SliceRange>& share) {
  ShardLayout layout;
  std::map<std::string, const SliceRange*> ranges;  // by the entry's name
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

  std::multimap<std::string_view, size_t> slices;  // by the tensor's name
  for (size_t i = 0; i < own.size(); ++i) {
    slices.emplace(own[i].tensor.name, i);
  }
  for (const SafetensorsTensor& entry : layout.header.tensors) {
    const SliceRange& range = *ranges.at(entry.name);
    const int64_t size = SizeOf(range.tensor.dtype);
    // Slices of one rank may overlap: each element is taken once.
    int64_t at = range.begin;
    while (at < range.end) {
      const int64_t before = at;
      const auto [first, last] = slices.equal_range(range.tensor.name);
      for (auto it = first; it != last; ++it) {
        const SliceRange& slice = own[it->second];
        if (slice.begin > at || slice.end <= at) continue;
        const int64_t end = std::min(slice.end, range.end);
        layout.copies.push_back({.slice = it->second,
                                 .from = (at - slice.begin) * size,
                                 .to = entry.begin + (at - range.begin) * size,
                                 .bytes = (end - at) * size});
        at = end;
        if (at == range.end) break;
      }
      MUSTER_CHECK(at > before) << "a share that the rank does not have";
    }
  }
  return layout;
}

}  // namespace muster
