#include "trainer_sdk/checkpoint/share_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/little_endian.h"
#include "trainer_sdk/checkpoint/exchange.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {
namespace {

constexpr size_t kMaxNameBytes = 1024;
// The size in bytes of the shortest encoded range: four numbers and the length
// of a name.
constexpr int64_t kLeastRangeBytes = 40;

absl::Status Wrong(const SliceRange& range, std::string what) {
  return absl::InvalidArgumentError(
      absl::StrCat(Describe(range.tensor), " ", what));
}

using Owners = std::vector<int>;

// A tensor of the checkpoint, and the elements at which each rank's slices of
// this tensor begin and end.
struct KnownTensor {
  CheckpointTensor tensor;
  int first_rank = 0;
  struct Edge {
    int64_t at = 0;
    int rank = 0;
    // 1: a slice of `rank` begins at element `at`. -1: `at` is the first
    // element after a slice of `rank`. The sum of the changes of a rank up to
    // an element is the number of the rank's slices that contain the element.
    int change = 0;
  };
  std::vector<Edge> edges;
};

absl::StatusOr<std::map<std::string, KnownTensor>> Gather(
    const std::vector<std::vector<SliceRange>>& ranks) {
  std::map<std::string, KnownTensor> known;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const int rank = static_cast<int>(i);
    for (const SliceRange& range : ranks[i]) {
      KnownTensor& tensor =
          known.try_emplace(range.tensor.name, KnownTensor{range.tensor, rank})
              .first->second;
      if (tensor.tensor != range.tensor) {
        return absl::InvalidArgumentError(absl::StrCat(
            "rank ", tensor.first_rank, " has ", Describe(tensor.tensor),
            ", and rank ", rank, " has ", Describe(range.tensor)));
      }
      if (range.begin == range.end) continue;
      tensor.edges.push_back({range.begin, rank, 1});
      tensor.edges.push_back({range.end, rank, -1});
    }
  }
  return known;
}

// Cuts a tensor into ranges, so that all elements of a range are held by the
// same set of ranks. Adds each range to the list of ranges of that set.
absl::Status Cut(KnownTensor* known,
                 std::map<Owners, std::vector<SliceRange>>* by_owners) {
  std::sort(known->edges.begin(), known->edges.end(),
            [](const auto& a, const auto& b) { return a.at < b.at; });
  // The ranks that hold the element `at`, at which the loop below has arrived.
  // Key: rank; value: the number of its slices that contain the element.
  std::map<int, int> open;
  int64_t at = 0;
  const int64_t count = known->tensor.count();
  for (size_t i = 0; i <= known->edges.size(); ++i) {
    const int64_t next = i < known->edges.size() ? known->edges[i].at : count;
    if (next > at) {
      if (open.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("no rank has the elements ", at, " to ", next, " of ",
                         Describe(known->tensor)));
      }
      Owners owners;
      for (const auto& [rank, slices] : open) owners.push_back(rank);
      (*by_owners)[owners].push_back({known->tensor, at, next});
      at = next;
    }
    if (i == known->edges.size()) break;
    const KnownTensor::Edge& edge = known->edges[i];
    if ((open[edge.rank] += edge.change) == 0) open.erase(edge.rank);
  }
  return absl::OkStatus();
}

int64_t BytesOf(const SliceRange& range) {
  return (range.end - range.begin) * SizeOf(range.tensor.dtype);
}

// Divides `ranges`, which all of `owners` hold, among the owners: each gets the
// same number of bytes, to within one element.
void Deal(const Owners& owners, const std::vector<SliceRange>& ranges,
          std::vector<std::vector<SliceRange>>* shares) {
  int64_t total = 0;
  for (const SliceRange& range : ranges) total += BytesOf(range);
  const auto parts = static_cast<int64_t>(owners.size());
  // The number of bytes that the first i + 1 owners get together, computed
  // without overflow.
  const auto end_of = [&](int64_t i) {
    return total / parts * (i + 1) + std::min(i + 1, total % parts);
  };
  int64_t part = 0;
  int64_t dealt = 0;
  for (SliceRange range : ranges) {
    const int64_t size = SizeOf(range.tensor.dtype);
    while (range.begin < range.end) {
      const int64_t room = (end_of(part) - dealt + size - 1) / size;
      if (room <= 0) {
        ++part;
        continue;
      }
      const int64_t end = std::min(range.end, range.begin + room);
      dealt += (end - range.begin) * size;
      (*shares)[static_cast<size_t>(owners[static_cast<size_t>(part)])]
          .push_back({range.tensor, range.begin, end});
      range.begin = end;
    }
  }
}

// Sorts a rank's share by tensor and position, and merges adjacent ranges.
void Join(std::vector<SliceRange>* share) {
  std::sort(share->begin(), share->end(), [](const auto& a, const auto& b) {
    return std::tie(a.tensor.name, a.begin) < std::tie(b.tensor.name, b.begin);
  });
  std::vector<SliceRange> joined;
  for (SliceRange& range : *share) {
    if (!joined.empty() && joined.back().tensor.name == range.tensor.name &&
        joined.back().end == range.begin) {
      joined.back().end = range.end;
    } else {
      joined.push_back(std::move(range));
    }
  }
  *share = std::move(joined);
}

}  // namespace

std::vector<SliceRange> RangesOf(const std::vector<CheckpointSlice>& slices) {
  std::vector<SliceRange> ranges;
  for (const CheckpointSlice& slice : slices) {
    ranges.push_back({slice.tensor, slice.begin, slice.end});
  }
  return ranges;
}

std::string Describe(const CheckpointTensor& tensor) {
  const std::string name =
      absl::CHexEscape(tensor.name.substr(0, kMaxNameBytes));
  return absl::StrCat("tensor '", name, "' (", Name(tensor.dtype), " [",
                      absl::StrJoin(tensor.shape, ","), "])");
}

absl::Status CheckRange(const SliceRange& range) {
  const CheckpointTensor& tensor = range.tensor;
  if (tensor.name.empty() || tensor.name.size() > kMaxNameBytes) {
    return Wrong(range,
                 absl::StrCat("has a name of ", tensor.name.size(),
                              " bytes; 1 to ", kMaxNameBytes, " may be"));
  }
  if (static_cast<int>(tensor.dtype) >= kDTypes) {
    return Wrong(range, "has no known type");
  }
  SafetensorsHeader alone;
  alone.tensors.push_back({.name = tensor.name,
                           .type = SafetensorsTypeOf(tensor.dtype),
                           .shape = tensor.shape});
  absl::Status status = PlaceSafetensors(&alone.tensors);
  if (status.ok()) status = WriteSafetensorsHeader(alone).status();
  if (!status.ok()) return status;
  const int64_t count = tensor.count();
  if (range.begin < 0 || range.begin > range.end || range.end > count) {
    return Wrong(range, absl::StrCat("has no elements ", range.begin, " to ",
                                     range.end, " of ", count));
  }
  return absl::OkStatus();
}

absl::Status CheckPlaces(const std::vector<CheckpointSlice>& slices) {
  for (const CheckpointSlice& slice : slices) {
    if (slice.data != nullptr || slice.begin >= slice.end) continue;
    return Wrong({slice.tensor}, "has elements, but nowhere");
  }
  return absl::OkStatus();
}

absl::Status CheckSlices(const std::vector<CheckpointSlice>& slices) {
  for (const CheckpointSlice& slice : slices) {
    const SliceRange range = {slice.tensor, slice.begin, slice.end};
    if (absl::Status wrong = CheckRange(range); !wrong.ok()) return wrong;
  }
  return CheckPlaces(slices);
}

std::string WriteRanges(const std::vector<SliceRange>& ranges) {
  std::string bytes;
  AppendInteger<int64_t>(static_cast<int64_t>(ranges.size()), &bytes);
  for (const SliceRange& range : ranges) {
    AppendString(range.tensor.name, &bytes);
    AppendInteger<int64_t>(static_cast<int64_t>(range.tensor.dtype), &bytes);
    AppendInteger<int64_t>(static_cast<int64_t>(range.tensor.shape.size()),
                           &bytes);
    for (const int64_t size : range.tensor.shape) AppendInteger(size, &bytes);
    AppendInteger(range.begin, &bytes);
    AppendInteger(range.end, &bytes);
  }
  return bytes;
}

absl::StatusOr<std::vector<SliceRange>> ReadRanges(std::string_view bytes) {
  absl::Status torn = absl::DataLossError("a torn list of slices");
  MessageReader reader(bytes);
  const int64_t count = reader.Number();
  if (count < 0 || count > reader.Most(kLeastRangeBytes)) return torn;
  std::vector<SliceRange> ranges(static_cast<size_t>(count));
  for (SliceRange& range : ranges) {
    range.tensor.name = reader.Text();
    const int64_t dtype = reader.Number();
    const int64_t dimensions = reader.Number();
    if (dtype < 0 || dtype >= kDTypes || dimensions < 0 ||
        dimensions > reader.Most(sizeof(int64_t))) {
      return torn;
    }
    range.tensor.dtype = static_cast<DType>(dtype);
    for (int64_t i = 0; i < dimensions; ++i) {
      range.tensor.shape.push_back(reader.Number());
    }
    range.begin = reader.Number();
    range.end = reader.Number();
    if (!reader.whole()) return torn;
    if (absl::Status wrong = CheckRange(range); !wrong.ok()) return wrong;
  }
  if (!reader.at_end()) return torn;
  return ranges;
}

absl::StatusOr<SharePlan> PlanShares(
    const std::vector<std::vector<SliceRange>>& ranks) {
  absl::StatusOr<std::map<std::string, KnownTensor>> known = Gather(ranks);
  if (!known.ok()) return known.status();
  SharePlan plan;
  plan.shares.resize(ranks.size());
  std::map<Owners, std::vector<SliceRange>> by_owners;
  for (auto& [name, tensor] : *known) {
    if (absl::Status gap = Cut(&tensor, &by_owners); !gap.ok()) return gap;
    plan.tensors.push_back(std::move(tensor.tensor));
  }
  for (const auto& [owners, ranges] : by_owners) {
    Deal(owners, ranges, &plan.shares);
    if (owners.size() > 1) plan.replicas.push_back({owners, ranges});
  }
  for (std::vector<SliceRange>& share : plan.shares) Join(&share);
  return plan;
}

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
  // Key: the name of a range's entry in the shard file; value: the range.
  std::map<std::string, const SliceRange*> ranges;
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
