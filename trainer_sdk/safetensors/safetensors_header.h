#ifndef MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_HEADER_H_
#define MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// All element types of the format (safetensors 0.8), narrow ones first. The
// reference library writes tensors in the reverse order of this list, so that
// all tensors are aligned.
enum class SafetensorsType : uint8_t {
  kBool,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64,
};
inline constexpr int kSafetensorsTypes = 22;

// The name of a type in the header, such as "F32".
const char* Name(SafetensorsType type);
std::optional<SafetensorsType> SafetensorsTypeOf(std::string_view name);

// The number of bits per element: 4 to 64. Elements narrower than a byte are
// packed, and a tensor of such elements must fill whole bytes.
int BitsOf(SafetensorsType type);

SafetensorsType SafetensorsTypeOf(DType dtype);
// The DType that corresponds to a safetensors type; nullopt if there is none.
std::optional<DType> DTypeOf(SafetensorsType type);

// The layout of a file in Hugging Face's safetensors format
// (github.com/huggingface/safetensors):
//   8 bytes   the header's length N, little-endian
//   N bytes   the header: a JSON object, padded with spaces
//   the rest  the tensors' data, contiguous
// The functions of this file are pure; safetensors_file.h reads and writes
// files.

// The size in bytes of the largest header that the reference library accepts.
inline constexpr int64_t kMaxSafetensorsHeaderBytes = 100'000'000;
inline constexpr int64_t kSafetensorsLengthBytes = 8;
inline constexpr size_t kMaxSafetensorsDimensions = 64;

// One tensor of a safetensors file, as the file's header describes it.
struct SafetensorsTensor {
  std::string name;
  SafetensorsType type = SafetensorsType::kF32;
  // Sizes of the dimensions, with the last one contiguous in memory
  // (row-major); empty: one element.
  std::vector<int64_t> shape;
  // Byte range of the tensor's data in the file, counted from the end of the
  // header.
  int64_t begin = 0;
  int64_t end = 0;

  int64_t bytes() const { return end - begin; }
  bool operator==(const SafetensorsTensor&) const = default;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  // The tensors, sorted by offset, without gaps between their data.
  std::vector<SafetensorsTensor> tensors;

  // Returns the tensor called `name`; null if there is none.
  const SafetensorsTensor* Find(std::string_view name) const;
  // The size of all tensors' data in bytes.
  int64_t data_bytes() const {
    return tensors.empty() ? 0 : tensors.back().end;
  }

  bool operator==(const SafetensorsHeader&) const = default;
};

// Returns the number of elements of a tensor with this shape. OutOfRange: a
// negative dimension, or more than 2^63 - 1 elements.
absl::StatusOr<int64_t> CountOf(const std::vector<int64_t>& shape);
// Returns the size of a tensor in bytes. OutOfRange: the shape is invalid, or
// the tensor's bits do not fill whole bytes.
absl::StatusOr<int64_t> BytesOf(SafetensorsType type,
                                const std::vector<int64_t>& shape);

// Returns the length of the header in bytes. `beginning`: the first 8 bytes of
// the file, or the whole file if it is shorter. DataLoss: the file, of
// `file_bytes` bytes, is shorter than its header, or the header's length is
// above kMaxSafetensorsHeaderBytes.
absl::StatusOr<int64_t> SafetensorsHeaderBytes(std::string_view beginning,
                                               int64_t file_bytes);

// Parses a header. Its tensors must fill `data_bytes` bytes exactly. DataLoss:
// invalid JSON, duplicate names, unknown types, sizes that do not fit the
// shape, overlaps or gaps; the message is one line that names the tensor and
// the problem. Memory is linear in the size of the header.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         int64_t data_bytes);

// Sorts the tensors as the reference library does (wide element types first,
// then by name) and sets their offsets. InvalidArgument: a duplicate name, the
// name "__metadata__", or an invalid shape.
absl::Status PlaceSafetensors(std::vector<SafetensorsTensor>* tensors);

// Formats the beginning of a file: the header's length and the header. The
// tensors' data will begin at a multiple of 8 bytes. InvalidArgument: there are
// gaps between tensors, a name or metadata is not UTF-8, or the header is too
// large.
absl::StatusOr<std::string> WriteSafetensorsHeader(
    const SafetensorsHeader& header);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SAFETENSORS_SAFETENSORS_HEADER_H_
