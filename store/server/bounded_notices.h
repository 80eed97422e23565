#ifndef MUSTER_STORE_SERVER_BOUNDED_NOTICES_H_
#define MUSTER_STORE_SERVER_BOUNDED_NOTICES_H_

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace muster::store {

// Passes on sentences for people up to a limit; the last one says that there
// will be no more.
class BoundedNotices {
 public:
  // `sink` may be empty.
  explicit BoundedNotices(std::function<void(const std::string&)> sink,
                          size_t most = 200)
      : sink_(std::move(sink)), left_(most) {}

  void Say(const std::string& sentence) {
    if (!sink_ || left_ == 0) return;
    --left_;
    sink_(left_ > 0 ? sentence
                    : "the store has said too much: no more of this");
  }

 private:
  const std::function<void(const std::string&)> sink_;
  size_t left_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_BOUNDED_NOTICES_H_
