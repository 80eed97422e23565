#ifndef MUSTER_LAUNCHER_READER_WATCH_H_
#define MUSTER_LAUNCHER_READER_WATCH_H_

#include <functional>
#include <thread>

#include "base/owned_fd.h"

namespace muster::launcher {

// Notices that the reader of a pipe has left, such as `head` in `launch logs -f
// | head`, even while there is nothing to write. Owns one thread.
class ReaderWatch {
 public:
  // Calls `on_left` once, on the watch's thread, when the last reader of the
  // pipe or socket `fd` has closed it. Never for other files.
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
