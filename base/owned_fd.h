#ifndef MUSTER_BASE_OWNED_FD_H_
#define MUSTER_BASE_OWNED_FD_H_

#include <unistd.h>

#include <utility>

namespace muster {

// A file descriptor that is closed when its owner goes. Movable only.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd() { Close(); }

  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  // -1 where nothing is owned.
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  // The descriptor, which the caller now closes.
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    // Never retried: on Linux the descriptor is gone even after EINTR.
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace muster

#endif  // MUSTER_BASE_OWNED_FD_H_
