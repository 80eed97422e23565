#include "agent/guardian/frame_channel.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "base/check.h"

namespace muster::agent {
namespace {

constexpr size_t kHeaderBytes = 4;
constexpr size_t kChunkBytes = 64 << 10;
// The maximum number of descriptors in one frame. The frame of a StartCommand
// carries the worker's stdin, stdout and stderr, and the pipe with the round's
// encryption key (--encrypt=workers).
constexpr size_t kMaxDescriptors = 4;
// The maximum number of received descriptors that the caller has not taken yet.
// At this number the channel stops reading, so that the process does not reach
// its limit of open files.
constexpr size_t kMaxHeldDescriptors = 32;

uint32_t ReadLength(const char* bytes) {
  uint32_t length = 0;
  for (size_t i = 0; i < kHeaderBytes; ++i) {
    length |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return length;
}

union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
};

}  // namespace

FrameChannel::FrameChannel(OwnedFd socket, size_t max_bytes)
    : socket_(std::move(socket)), max_bytes_(max_bytes) {}

void FrameChannel::Queue(const std::string& payload,
                         std::vector<int> descriptors) {
  MUSTER_CHECK(payload.size() <= max_bytes_) << payload.size() << " bytes";
  MUSTER_CHECK(descriptors.size() <= kMaxDescriptors);
  MUSTER_CHECK(descriptors.empty() || unsent() == 0)
      << "descriptors go with the first byte of what is unsent";
  if (unsent() == 0) {
    out_.clear();
    out_sent_ = 0;
  }
  const auto length = static_cast<uint32_t>(payload.size());
  for (size_t i = 0; i < kHeaderBytes; ++i) {
    out_.push_back(static_cast<char>(length >> (8 * i)));
  }
  out_ += payload;
  if (!descriptors.empty()) out_descriptors_ = std::move(descriptors);
}

bool FrameChannel::Flush() {
  while (unsent() > 0) {
    iovec piece = {out_.data() + out_sent_, unsent()};
    msghdr message = {};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    ControlBuffer control = {};
    if (!out_descriptors_.empty()) {
      const size_t size = out_descriptors_.size() * sizeof(int);
      message.msg_control = control.bytes;
      message.msg_controllen = CMSG_SPACE(size);
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(size);
      std::memcpy(CMSG_DATA(header), out_descriptors_.data(), size);
    }
    const ssize_t sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    out_descriptors_.clear();
    out_sent_ += static_cast<size_t>(sent);
  }
  // The swap frees the memory of a large message; clear() would keep it.
  std::string().swap(out_);
  out_sent_ = 0;
  return true;
}

bool FrameChannel::Fill() {
  in_.erase(0, in_taken_);
  in_taken_ = 0;
  while (in_.size() < max_bytes_ + kHeaderBytes &&
         in_descriptors_.size() < kMaxHeldDescriptors) {
    const size_t old_size = in_.size();
    in_.resize(old_size + kChunkBytes);
    iovec piece = {in_.data() + old_size, kChunkBytes};
    ControlBuffer control = {};
    msghdr message = {};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t got = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    const int error = errno;
    in_.resize(old_size + static_cast<size_t>(got > 0 ? got : 0));
    if (got < 0) {
      if (error == EINTR) continue;
      return error == EAGAIN || error == EWOULDBLOCK;
    }
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
      if (header->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
        in_descriptors_.emplace_back(fd);
      }
    }
    if ((message.msg_flags & MSG_CTRUNC) != 0) return false;
    if (got == 0) return false;
  }
  return true;
}

absl::StatusOr<std::optional<std::string>> FrameChannel::TakeFrame() {
  const size_t left = in_.size() - in_taken_;
  if (left < kHeaderBytes) return std::nullopt;
  const size_t length = ReadLength(in_.data() + in_taken_);
  if (length > max_bytes_) {
    return absl::InvalidArgumentError(
        "a frame between agent and guardian claims " + std::to_string(length) +
        " bytes, more than " + std::to_string(max_bytes_));
  }
  if (left - kHeaderBytes < length) return std::nullopt;
  std::string payload = in_.substr(in_taken_ + kHeaderBytes, length);
  in_taken_ += kHeaderBytes + length;
  if (in_taken_ == in_.size()) {
    // The swap frees the memory of a large message; an assignment would keep
    // it.
    std::string().swap(in_);
    in_taken_ = 0;
  }
  return payload;
}

OwnedFd FrameChannel::TakeDescriptor() {
  if (in_descriptors_.empty()) return OwnedFd();
  OwnedFd fd = std::move(in_descriptors_.front());
  in_descriptors_.pop_front();
  return fd;
}

}  // namespace muster::agent
