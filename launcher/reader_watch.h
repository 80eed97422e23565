#ifndef MUSTER_LAUNCHER_READER_WATCH_H_
#define MUSTER_LAUNCHER_READER_WATCH_H_

#include <functional>
#include <thread>

#include "base/owned_fd.h"

namespace muster::launcher {

// Detects that the reader of a pipe, such as `head` in `launch logs -f | head`,
// has closed the pipe, even while there is nothing to write. Owns one thread.
class ReaderWatch {
 public:
  // Calls `on_left` once, on the thread of this object, when the last reader of
  // the pipe or socket `fd` has closed it. If `fd` is another kind of file,
  // `on_left` is never called.
  ReaderWatch(int fd, std::function<void()> on_left);
  ~ReaderWatch();
  ReaderWatch(const ReaderWatch&) = delete;
  ReaderWatch& operator=(const ReaderWatch&) = delete;

 private:
  const OwnedFd stop_;
  std::thread thread_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_READER_WATCH_H_
