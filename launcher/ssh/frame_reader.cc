#include "launcher/ssh/frame_reader.h"

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

constexpr size_t kMaxBefore = 64 << 10;
constexpr size_t kLengthBytes = 4;

}  // namespace

std::string GreetingLine() {
  return absl::StrCat(kGreeting, kSshProtocol, "\n");
}

void FrameReader::Append(std::string_view bytes) {
  if (!error_.empty()) return;
  buffer_.erase(0, used_);
  used_ = 0;
  buffer_.append(bytes);
  if (!greeted_) LookForGreeting();
}

void FrameReader::LookForGreeting() {
  const size_t at = buffer_.find(kGreeting);
  const size_t end = at == std::string::npos ? at : buffer_.find('\n', at);
  if (end != std::string::npos) {
    const std::string expected = GreetingLine();
    if (buffer_.compare(at, end + 1 - at, expected) != 0) {
      error_ = "another version of launch runs there; install this one";
      return;
    }
    greeted_ = true;
    buffer_.erase(0, end + 1);
    return;
  }
  if (buffer_.size() > kMaxBefore) {
    buffer_.erase(0, buffer_.size() - kMaxBefore / 2);
  }
}

std::string_view FrameReader::before_greeting() const {
  return greeted_ ? std::string_view() : std::string_view(buffer_);
}

std::optional<std::string_view> FrameReader::Next() {
  if (!greeted_ || !error_.empty()) return std::nullopt;
  if (buffer_.size() - used_ < kLengthBytes) return std::nullopt;
  size_t size = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    size |= static_cast<size_t>(static_cast<unsigned char>(buffer_[used_ + i]))
            << (8 * i);
  }
  if (size > kMaxFrameBytes) {
    error_ = "what came is no message of ours";
    return std::nullopt;
  }
  if (buffer_.size() - used_ - kLengthBytes < size) return std::nullopt;
  const std::string_view payload(buffer_.data() + used_ + kLengthBytes, size);
  used_ += kLengthBytes + size;
  return payload;
}

}  // namespace muster::launcher
