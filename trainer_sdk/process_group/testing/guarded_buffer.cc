#include "trainer_sdk/process_group/testing/guarded_buffer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/element.h"

namespace muster {
namespace {

constexpr int64_t kBorder = 64;  // bytes; preserves malloc's alignment
constexpr uint8_t kPattern = 0xA5;

}  // namespace

GuardedBuffer::GuardedBuffer(ConformanceMemory& memory, DType dtype,
                             int64_t length)
    : memory_(memory),
      dtype_(dtype),
      bytes_(length * SizeOf(dtype)),
      block_(memory.Allocate(bytes_ + 2 * kBorder)) {
  const std::vector<uint8_t> pattern(bytes_ + 2 * kBorder, kPattern);
  memory_.Write(block_.get(), pattern.data(), bytes_ + 2 * kBorder);
}

void* GuardedBuffer::at(int64_t element) const {
  return static_cast<uint8_t*>(block_.get()) + kBorder +
         element * SizeOf(dtype_);
}

void GuardedBuffer::Write(int64_t begin, const std::vector<double>& values) {
  std::vector<uint8_t> bytes(values.size() * SizeOf(dtype_));
  for (size_t i = 0; i < values.size(); i++) {
    EncodeElement(values[i], dtype_, bytes.data() + i * SizeOf(dtype_));
  }
  memory_.Write(at(begin), bytes.data(), static_cast<int64_t>(bytes.size()));
}

absl::Status GuardedBuffer::Expect(int64_t begin,
                                   const std::vector<double>& expected,
                                   double tolerance) const {
  std::vector<uint8_t> bytes(expected.size() * SizeOf(dtype_));
  memory_.Read(bytes.data(), at(begin), static_cast<int64_t>(bytes.size()));
  for (size_t i = 0; i < expected.size(); i++) {
    const double found =
        DecodeElement(dtype_, bytes.data() + i * SizeOf(dtype_));
    if (!(std::fabs(found - expected[i]) <= tolerance)) {
      return absl::InternalError(
          absl::StrCat("element ", begin + static_cast<int64_t>(i), " is ",
                       found, ", not ", expected[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status GuardedBuffer::ExpectBorders() const {
  std::vector<uint8_t> bytes(bytes_ + 2 * kBorder);
  memory_.Read(bytes.data(), block_.get(), bytes_ + 2 * kBorder);
  for (int64_t i = 0; i < kBorder; i++) {
    if (bytes[i] != kPattern || bytes[kBorder + bytes_ + i] != kPattern) {
      return absl::InternalError("bytes beside a buffer were written");
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
