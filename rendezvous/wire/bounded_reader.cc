#include "rendezvous/wire/bounded_reader.h"

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

constexpr Duration kLongest = std::chrono::hours(24 * 366);

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

BoundedReader::Within::Within(BoundedReader* reader, const char* field,
                              int index)
    : reader_(reader) {
  reader_->parts_.push_back({field, index});
}

BoundedReader::Within::~Within() { reader_->parts_.pop_back(); }

void BoundedReader::Refuse(const char* field, const std::string& why) {
  if (!status_.ok()) return;
  std::string path;
  for (const Part& part : parts_) {
    absl::StrAppend(&path, part.field);
    if (part.index >= 0) absl::StrAppend(&path, "[", part.index, "]");
    absl::StrAppend(&path, ".");
  }
  status_ = absl::InvalidArgumentError(
      absl::StrCat("the ", message_, "'s ", path, field, " ", why));
}

void BoundedReader::Text(const char* field, const std::string& value,
                         size_t max_bytes, TextKind kind, std::string* out) {
  if (value.size() > max_bytes) {
    Refuse(field, absl::StrCat("is ", value.size(), " bytes long; at most ",
                               max_bytes));
    return;
  }
  if (kind == TextKind::kName) {
    for (char c : value) {
      if (!IsControl(c)) continue;
      Refuse(field, absl::StrCat("holds the control character 0x",
                                 absl::Hex(static_cast<unsigned char>(c))));
      return;
    }
  }
  *out = value;
}

void BoundedReader::Integer(const char* field, int64_t value, int64_t least,
                            int64_t most, int* out) {
  if (value < least || value > most) {
    Refuse(field, absl::StrCat("is ", value, "; it must be between ", least,
                               " and ", most));
    return;
  }
  *out = static_cast<int>(value);
}

void BoundedReader::Integer64(const char* field, int64_t value, int64_t least,
                              int64_t* out) {
  if (value < least) {
    Refuse(field, absl::StrCat("is ", value, "; at least ", least));
    return;
  }
  *out = value;
}

void BoundedReader::Epoch(const char* field, uint64_t value, uint64_t* out) {
  constexpr uint64_t kMost = ~uint64_t{0} - (uint64_t{1} << 40);
  if (value > kMost) {
    Refuse(field, absl::StrCat("is ", value, "; at most ", kMost));
    return;
  }
  *out = value;
}

void BoundedReader::Span(const char* field, int64_t nanoseconds,
                         Duration* out) {
  const Duration span(nanoseconds);
  if (span > kLongest || span < -kLongest) {
    Refuse(field, absl::StrCat("is ", nanoseconds, " ns; at most a year"));
    return;
  }
  *out = span;
}

bool BoundedReader::Count(const char* field, int count, int most) {
  if (count <= most) return true;
  Refuse(field, absl::StrCat("has ", count, " entries; at most ", most));
  return false;
}

void BoundedReader::Present(const char* field, bool present) {
  if (!present) Refuse(field, "is missing");
}

void BoundedReader::Unknown(const char* field, int64_t value) {
  Refuse(field, absl::StrCat("is ", value, ", which is not known here"));
}

}  // namespace muster::rendezvous
