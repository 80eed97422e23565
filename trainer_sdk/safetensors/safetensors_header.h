#ifndef MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_HEADER_H_
#define MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/safetensors/safetensors_type.h"

namespace muster {

// A file of Hugging Face's safetensors format is
//   8 bytes   the header's length N, little-endian
//   N bytes   the header: a JSON object, padded with spaces
//   the rest  the tensors' data, one behind the other without a hole
// (github.com/huggingface/safetensors). These functions are pure; the files
// themselves are safetensors_file.h's.

// As the reference library's.
inline constexpr int64_t kMaxSafetensorsHeaderBytes = 100'000'000;
inline constexpr int64_t kSafetensorsLengthBytes = 8;
inline constexpr size_t kMaxSafetensorsDimensions = 64;

// What the header says of one tensor.
struct SafetensorsTensor {
  std::string name;
  SafetensorsType type = SafetensorsType::kF32;
  // Dense, row-major. No dimension: one element.
  std::vector<int64_t> shape;
  // Its bytes, counted from the end of the header.
  int64_t begin = 0;
  int64_t end = 0;

  int64_t bytes() const { return end - begin; }
  bool operator==(const SafetensorsTensor&) const = default;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  // By their place in the data, without holes.
  std::vector<SafetensorsTensor> tensors;

  // Null: there is none of that name.
  const SafetensorsTensor* Find(std::string_view name) const;
  // Of all tensors.
  int64_t data_bytes() const {
    return tensors.empty() ? 0 : tensors.back().end;
  }

  bool operator==(const SafetensorsHeader&) const = default;
};

// Elements of a shape. OutOfRange: a negative dimension, or more than 2^63 - 1.
absl::StatusOr<int64_t> CountOf(const std::vector<int64_t>& shape);
// Bytes of a tensor. OutOfRange also where its bits are no whole bytes.
absl::StatusOr<int64_t> BytesOf(SafetensorsType type,
                                const std::vector<int64_t>& shape);

// The length of the header of a file of `file_bytes` that begins with
// `beginning`, of which there are 8 bytes if the file has them. DataLoss: the
// file is too short, or the length absurd.
absl::StatusOr<int64_t> SafetensorsHeaderBytes(std::string_view beginning,
                                               int64_t file_bytes);

// The header's bytes as tensors, which fill `data_bytes` exactly. DataLoss,
// with one line that says what is wrong and with which tensor: JSON of another
// form, names that come twice, unknown types, sizes that do not fit the shape,
// overlaps, holes. Takes memory in proportion to the header, never more.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         int64_t data_bytes);

// Sorts the tensors as the reference library does (wide elements first, then by
// name) and gives them their places.
// InvalidArgument: two of one name, "__metadata__", a shape that cannot be.
absl::Status PlaceSafetensors(std::vector<SafetensorsTensor>* tensors);

// What the file begins with, the header's length included; the data begin at a
// multiple of 8 bytes. InvalidArgument: places with holes, a name or metadata
// that is not UTF-8, a header beyond the bound.
absl::StatusOr<std::string> WriteSafetensorsHeader(
    const SafetensorsHeader& header);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_HEADER_H_
