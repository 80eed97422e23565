#ifndef MUSTER_TRAINER_SDK_STORE_WAIT_LINES_H_
#define MUSTER_TRAINER_SDK_STORE_WAIT_LINES_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "store/client/store_channel.h"

namespace muster {

// The connections on which a client's threads wait for keys, one thread per
// connection. They are opened on demand, at most `most` of them. Thread-safe.
class WaitLines {
 public:
  WaitLines(std::string host, int port, size_t most)
      : host_(std::move(host)), port_(port), most_(most) {}

  // Sends the WAIT in `request` and blocks until its reply.
  //   DeadlineExceeded   some keys do not exist; with a message, the store did
  //                      not say whether they do
  //   ResourceExhausted  no connection was free or could be opened until
  //                      `patience`; nothing was sent
  //   Unavailable        the store cannot be reached
  absl::Status Wait(const std::string& request, Instant deadline,
                    Instant patience);

 private:
  // A free connection; an empty optional if the caller has to open one. Fails
  // if none is available until `patience`.
  absl::StatusOr<std::optional<StoreChannel>> Take(Instant patience);
  void GiveBack(std::optional<StoreChannel> line);

  const std::string host_;
  const int port_;
  const size_t most_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<StoreChannel> free_;
  size_t taken_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_WAIT_LINES_H_
