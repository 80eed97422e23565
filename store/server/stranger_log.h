#ifndef MUSTER_STORE_SERVER_STRANGER_LOG_H_
#define MUSTER_STORE_SERVER_STRANGER_LOG_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace muster::store {

// Counts the connections that a store refuses because of the peer's address.
// Limits the number of messages about them. Pure.
class StrangerLog {
 public:
  // The maximum number of refused addresses that are named in messages.
  static constexpr size_t kMaxNamed = 8;

  // Counts a refused connection from `address`. Returns a message for the user
  // for the first connection from each of the first kMaxNamed addresses, and
  // one more message for all further addresses. Otherwise returns an empty
  // string.
  std::string Refused(const std::string& address);

  uint64_t connections() const { return connections_; }
  // Returns a message with the number of refused connections. If Refused has
  // already reported each of them, returns an empty string.
  std::string Summary() const;

 private:
  std::set<std::string> named_;
  uint64_t connections_ = 0;
  uint64_t sentences_ = 0;
  bool has_more_ = false;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STRANGER_LOG_H_
