#ifndef MUSTER_BASE_OWNED_FD_H_
#define MUSTER_BASE_OWNED_FD_H_

#include <unistd.h>

#include <utility>

namespace muster {

// Owns a file descriptor, and closes it in the destructor. Movable, not
// copyable.
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

  // Returns the descriptor, which this object still owns; -1 if none is owned.
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  // Gives up the ownership and returns the descriptor; the caller must close
  // it.
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    // close() is not retried: on Linux the descriptor is closed even after
    // EINTR.
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace muster

#endif  // MUSTER_BASE_OWNED_FD_H_
