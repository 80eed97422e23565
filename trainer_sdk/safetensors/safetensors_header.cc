#include "trainer_sdk/safetensors/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/little_endian.h"

namespace muster {
namespace {

constexpr char kMetadata[] = "__metadata__";
constexpr size_t kQuotedBytes = 80;

// Formats a tensor's name for error messages: quoted, printable, of limited
// length.
std::string QuotedName(std::string_view name) {
  const absl::string_view beginning(name.data(),
                                    std::min(name.size(), kQuotedBytes));
  return absl::StrCat("'", absl::CHexEscape(beginning),
                      name.size() > kQuotedBytes ? "...'" : "'");
}

// Receives the header's JSON tokens one by one from the parser, and tracks the
// position in the header. A method returns false to stop the parser.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader TakeHeader() { return std::move(header_); }
  const std::string& complaint() const { return complaint_; }

  bool null() override { return Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("true or false"); }
  bool number_integer(number_integer_t) override {
    return Unexpected("a negative number");
  }
  bool number_float(number_float_t, const string_t&) override {
    return Unexpected("a number that is not a whole one or too large");
  }
  bool binary(binary_t&) override { return Unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (value > std::numeric_limits<int64_t>::max()) {
      return Unexpected("a number beyond 2^63");
    }
    const auto number = static_cast<int64_t>(value);
    if (place_ == Place::kShape) {
      if (tensor_.shape.size() == kMaxSafetensorsDimensions) {
        return Complain(absl::StrCat("has more than ",
                                     kMaxSafetensorsDimensions, " dimensions"));
      }
      tensor_.shape.push_back(number);
      return true;
    }
    if (place_ == Place::kOffsets && offsets_ < 2) {
      (offsets_++ == 0 ? tensor_.begin : tensor_.end) = number;
      return true;
    }
    return Unexpected("a number");
  }

  bool string(string_t& value) override {
    if (place_ == Place::kMetadata) {
      header_.metadata[key_] = std::move(value);
      return true;
    }
    if (place_ == Place::kTensor && key_ == "dtype") {
      const auto type = SafetensorsTypeOf(std::string_view(value));
      if (!type) {
        return Complain(
            absl::StrCat("has the unknown dtype ", QuotedName(value)));
      }
      tensor_.type = *type;
      return true;
    }
    return Unexpected("a string");
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::kBefore) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop && key_ == kMetadata) {
      place_ = Place::kMetadata;
    } else if (place_ == Place::kTop) {
      place_ = Place::kTensor;
      tensor_ = {};
      tensor_.name = key_;
      fields_.clear();
    } else {
      return Unexpected("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    key_ = std::move(value);
    switch (place_) {
      case Place::kTop:
        if (names_.insert(key_).second) return true;
        complaint_ = absl::StrCat("the name ", QuotedName(key_),
                                  " comes twice in the header");
        return false;
      case Place::kMetadata:
        if (header_.metadata.emplace(key_, "").second) return true;
        complaint_ = absl::StrCat("the name ", QuotedName(key_),
                                  " comes twice in the metadata");
        return false;
      default:
        if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
          return Complain(
              absl::StrCat("has an unknown field ", QuotedName(key_)));
        }
        if (fields_.insert(key_).second) return true;
        return Complain(absl::StrCat("has its ", key_, " twice"));
    }
  }

  bool end_object() override {
    switch (place_) {
      case Place::kTensor:
        if (fields_.size() != 3) {
          return Complain("lacks one of dtype, shape and data_offsets");
        }
        header_.tensors.push_back(std::move(tensor_));
        place_ = Place::kTop;
        return true;
      case Place::kMetadata:
        place_ = Place::kTop;
        return true;
      default:
        place_ = Place::kBehind;
        return true;
    }
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::kTensor || key_ == "dtype") {
      return Unexpected("a list");
    }
    place_ = key_ == "shape" ? Place::kShape : Place::kOffsets;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (place_ == Place::kOffsets && offsets_ != 2) {
      return Complain("has data_offsets that are not two numbers");
    }
    place_ = Place::kTensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    complaint_ = absl::StrCat("the header is no JSON, at its byte ", position);
    return false;
  }

 private:
  // The part of the header to which the next JSON token belongs.
  enum class Place {
    kBefore,
    kTop,
    kMetadata,
    kTensor,
    kShape,
    kOffsets,
    kBehind,
  };

  bool Complain(std::string_view what) {
    complaint_ = absl::StrCat("tensor ", QuotedName(tensor_.name), " ",
                              absl::string_view(what.data(), what.size()));
    return false;
  }

  bool Unexpected(std::string_view what) {
    const absl::string_view found(what.data(), what.size());
    switch (place_) {
      case Place::kBefore:
      case Place::kBehind:
        complaint_ = absl::StrCat("the header is ", found, ", not an object");
        break;
      case Place::kTop:
        complaint_ = absl::StrCat("the header has ", found, " under ",
                                  QuotedName(key_), " in place of an object");
        break;
      case Place::kMetadata:
        complaint_ = absl::StrCat("the metadata have ", found, " under ",
                                  QuotedName(key_), " in place of a string");
        break;
      default:
        return Complain(std::string(absl::StrCat(
            "has ", found, " in its ", key_, ", where it cannot be")));
    }
    return false;
  }

  SafetensorsHeader header_;
  std::string complaint_;
  Place place_ = Place::kBefore;
  std::string key_;
  std::set<std::string> names_;
  SafetensorsTensor tensor_;
  std::set<std::string> fields_;
  int offsets_ = 0;
};

// Parses the JSON of a header: checks its structure, types and names, but not
// the offsets. Makes one pass, without a tree and without recursion, so deeply
// nested JSON does no harm. The memory is linear in the size of the input.
// DataLoss: a check failed; the message is one line.
absl::StatusOr<SafetensorsHeader> ReadHeaderJson(std::string_view json) {
  HeaderHandler handler;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &handler)) {
    return absl::DataLossError(handler.complaint());
  }
  return handler.TakeHeader();
}

struct TypeFacts {
  const char* name;
  int bits;
};

// Names and sizes of the element types, indexed by SafetensorsType.
constexpr std::array<TypeFacts, kSafetensorsTypes> kFacts = {{
    {"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
    {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
    {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
    {"I64", 64},    {"U64", 64},
}};

// The safetensors type of each DType, indexed by DType.
constexpr std::array<SafetensorsType, kDTypes> kOfDType = {
    SafetensorsType::kF32, SafetensorsType::kF64, SafetensorsType::kBF16,
    SafetensorsType::kF16, SafetensorsType::kI8,  SafetensorsType::kI32,
    SafetensorsType::kI64,
};

const TypeFacts& FactsOf(SafetensorsType type) {
  return kFacts[static_cast<size_t>(type)];
}

}  // namespace

const char* Name(SafetensorsType type) { return FactsOf(type).name; }

int BitsOf(SafetensorsType type) { return FactsOf(type).bits; }

std::optional<SafetensorsType> SafetensorsTypeOf(std::string_view name) {
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (name == kFacts[i].name) return static_cast<SafetensorsType>(i);
  }
  return std::nullopt;
}

SafetensorsType SafetensorsTypeOf(DType dtype) {
  return kOfDType[static_cast<size_t>(dtype)];
}

std::optional<DType> DTypeOf(SafetensorsType type) {
  for (size_t i = 0; i < kOfDType.size(); ++i) {
    if (kOfDType[i] == type) return static_cast<DType>(i);
  }
  return std::nullopt;
}

namespace {

constexpr size_t kAlignment = 8;

std::string Quoted(const SafetensorsTensor& tensor) {
  return absl::StrCat("tensor ", QuotedName(tensor.name));
}

// Checks that the data of the tensors, which must be sorted by offset, is
// contiguous.
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

// Appends `text` to `*out` as a JSON string; returns false if it is not UTF-8.
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
  // A dimension of 0 makes the tensor empty, however large its other dimensions
  // are.
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
