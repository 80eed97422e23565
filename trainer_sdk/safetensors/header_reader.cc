#include "trainer_sdk/safetensors/header_reader.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr char kMetadata[] = "__metadata__";
constexpr size_t kQuotedBytes = 80;

// Receives the JSON's tokens one by one and tracks the position in the header.
// Returning false ends the parsing.
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
  // The position of the next token.
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

}  // namespace

std::string QuotedName(std::string_view name) {
  const absl::string_view beginning(name.data(),
                                    std::min(name.size(), kQuotedBytes));
  return absl::StrCat("'", absl::CHexEscape(beginning),
                      name.size() > kQuotedBytes ? "...'" : "'");
}

absl::StatusOr<SafetensorsHeader> ReadHeaderJson(std::string_view json) {
  HeaderHandler handler;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &handler)) {
    return absl::DataLossError(handler.complaint());
  }
  return handler.TakeHeader();
}

}  // namespace muster
