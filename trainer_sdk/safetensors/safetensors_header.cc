#include "trainer_sdk/safetensors/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"
#include "trainer_sdk/safetensors/header_reader.h"

namespace muster {
namespace {

constexpr size_t kAlignment = 8;

std::string Quoted(const SafetensorsTensor& tensor) {
  return absl::StrCat("tensor ", QuotedName(tensor.name));
}

// Checks that the tensors, sorted by offset, are contiguous.
absl::Status CheckPlaces(const std::vector<SafetensorsTensor>& tensors) {
  int64_t filled = 0;
  const SafetensorsTensor* before = nullptr;
  for (const SafetensorsTensor& tensor : tensors) {
    const absl::StatusOr<int64_t> bytes = BytesOf(tensor.type, tensor.shape);
    if (!bytes.ok()) {
      return absl::DataLossError(
          absl::StrCat(Quoted(tensor), " ", bytes.status().message()));
    }
    if (tensor.end < tensor.begin || tensor.bytes() != *bytes) {
      return absl::DataLossError(
          absl::StrCat(Quoted(tensor), " of ", *bytes, " bytes has the bytes ",
                       tensor.begin, " to ", tensor.end));
    }
    if (tensor.begin < filled) {
      return absl::DataLossError(absl::StrCat(
          Quoted(tensor), " begins at byte ", tensor.begin, ", inside ",
          Quoted(*before), ", which ends at ", filled));
    }
    if (tensor.begin > filled) {
      return absl::DataLossError(absl::StrCat("no tensor has the bytes ",
                                              filled, " to ", tensor.begin,
                                              ", before ", Quoted(tensor)));
    }
    filled = tensor.end;
    before = &tensor;
  }
  return absl::OkStatus();
}

// Appends `text` as a JSON string; false if it is not UTF-8.
bool AppendJson(const std::string& text, std::string* out) {
  try {
    out->append(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

}  // namespace

const SafetensorsTensor* SafetensorsHeader::Find(std::string_view name) const {
  const auto at =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const SafetensorsTensor& t) { return t.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

absl::StatusOr<int64_t> CountOf(const std::vector<int64_t>& shape) {
  // A dimension of 0 makes the tensor empty, however large the others are.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    if (std::all_of(shape.begin(), shape.end(),
                    [](int64_t size) { return size >= 0; })) {
      return 0;
    }
  }
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0) return absl::OutOfRangeError("has a negative dimension");
    if (__builtin_mul_overflow(count, size, &count)) {
      return absl::OutOfRangeError("has too many elements");
    }
  }
  return count;
}

absl::StatusOr<int64_t> BytesOf(SafetensorsType type,
                                const std::vector<int64_t>& shape) {
  const absl::StatusOr<int64_t> count = CountOf(shape);
  if (!count.ok()) return count;
  int64_t bits;
  if (__builtin_mul_overflow(*count, BitsOf(type), &bits)) {
    return absl::OutOfRangeError("has too many bits");
  }
  if (bits % 8 != 0) {
    return absl::OutOfRangeError(
        absl::StrCat("has ", *count, " elements of ", BitsOf(type),
                     " bits, which are no whole bytes"));
  }
  return bits / 8;
}

absl::StatusOr<int64_t> SafetensorsHeaderBytes(std::string_view beginning,
                                               int64_t file_bytes) {
  if (beginning.size() < kSafetensorsLengthBytes) {
    return absl::DataLossError(absl::StrCat("a file of ", file_bytes,
                                            " bytes has no header's length"));
  }
  const auto length = ReadInteger<uint64_t>(beginning);
  if (length > kMaxSafetensorsHeaderBytes) {
    return absl::DataLossError(absl::StrCat(
        "this is no safetensors file: its first ", kSafetensorsLengthBytes,
        " bytes tell of a header of ", length, " bytes, and at most ",
        kMaxSafetensorsHeaderBytes, " are read"));
  }
  const auto bytes = static_cast<int64_t>(length);
  if (bytes > file_bytes - kSafetensorsLengthBytes) {
    return absl::DataLossError(absl::StrCat("a header of ", bytes,
                                            " bytes in a file of ", file_bytes,
                                            ": the file is cut off"));
  }
  return bytes;
}

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json,
                                                         int64_t data_bytes) {
  absl::StatusOr<SafetensorsHeader> header = ReadHeaderJson(json);
  if (!header.ok()) return header;
  std::vector<SafetensorsTensor>& tensors = header->tensors;
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const auto& a, const auto& b) {
                     return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
                   });
  if (absl::Status wrong = CheckPlaces(tensors); !wrong.ok()) return wrong;
  if (header->data_bytes() != data_bytes) {
    return absl::DataLossError(absl::StrCat(
        "the tensors have ", header->data_bytes(), " bytes, and the file ",
        data_bytes, " behind its header"));
  }
  return header;
}

absl::Status PlaceSafetensors(std::vector<SafetensorsTensor>* tensors) {
  std::sort(tensors->begin(), tensors->end(), [](const auto& a, const auto& b) {
    return std::tie(b.type, a.name) < std::tie(a.type, b.name);
  });
  std::vector<std::string_view> names;
  int64_t offset = 0;
  for (SafetensorsTensor& tensor : *tensors) {
    const absl::StatusOr<int64_t> bytes = BytesOf(tensor.type, tensor.shape);
    tensor.begin = offset;
    if (!bytes.ok() || tensor.shape.size() > kMaxSafetensorsDimensions ||
        __builtin_add_overflow(offset, *bytes, &offset)) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quoted(tensor), " ",
          bytes.ok() ? "has a shape too large" : bytes.status().message()));
    }
    tensor.end = offset;
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("two tensors have the name ", QuotedName(*twice)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> WriteSafetensorsHeader(
    const SafetensorsHeader& header) {
  if (absl::Status wrong = CheckPlaces(header.tensors); !wrong.ok()) {
    return absl::InvalidArgumentError(wrong.message());
  }
  std::string json = "{";
  if (!header.metadata.empty()) {
    const char* comma = "";
    absl::StrAppend(&json, "\"__metadata__\":{");
    for (const auto& [key, value] : header.metadata) {
      absl::StrAppend(&json, comma);
      if (!AppendJson(key, &json) || !(json += ":", AppendJson(value, &json))) {
        return absl::InvalidArgumentError(
            absl::StrCat("metadata ", QuotedName(key), " are no UTF-8"));
      }
      comma = ",";
    }
    absl::StrAppend(&json, "}");
  }
  for (const SafetensorsTensor& tensor : header.tensors) {
    if (json.size() > 1) absl::StrAppend(&json, ",");
    if (tensor.name == "__metadata__" || !AppendJson(tensor.name, &json)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "no tensor can have the name ", QuotedName(tensor.name)));
    }
    absl::StrAppend(&json, ":{\"dtype\":\"", Name(tensor.type),
                    "\",\"shape\":[");
    const char* comma = "";
    for (const int64_t size : tensor.shape) {
      absl::StrAppend(&json, comma, size);
      comma = ",";
    }
    absl::StrAppend(&json, "],\"data_offsets\":[", tensor.begin, ",",
                    tensor.end, "]}");
  }
  json += "}";
  json.append((kAlignment - json.size() % kAlignment) % kAlignment, ' ');
  if (json.size() > kMaxSafetensorsHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a header of ", json.size(), " bytes for ", header.tensors.size(),
        " tensors; at most ", kMaxSafetensorsHeaderBytes));
  }
  std::string bytes;
  AppendInteger<uint64_t>(json.size(), &bytes);
  return bytes + json;
}

}  // namespace muster
