#include "trainer_sdk/checkpoint/slice_list.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

}  // namespace muster
