#ifndef MUSTER_STORE_SERVER_STRANGER_LOG_H_
#define MUSTER_STORE_SERVER_STRANGER_LOG_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace muster::store {

// Counts the connections that a store refuses because their addresses are not
// those of its clients, and limits what is said about them. Pure.
class StrangerLog {
 public:
  // The number of addresses that are named.
  static constexpr size_t kMaxNamed = 8;

  // Counts a refused connection from `address`. Returns a sentence for people
  // for the first connection from each of kMaxNamed addresses, and once for
  // further addresses; else an empty string.
  std::string Refused(const std::string& address);

  uint64_t connections() const { return connections_; }
  // A sentence with the number of refused connections, if it exceeds the
  // sentences of Refused; else an empty string.
  std::string Summary() const;

 private:
  std::set<std::string> named_;
  uint64_t connections_ = 0;
  uint64_t sentences_ = 0;
  bool has_more_ = false;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STRANGER_LOG_H_
