#ifndef MUSTER_BASE_LOOPBACK_H_
#define MUSTER_BASE_LOOPBACK_H_

#include <string_view>

namespace muster {

// Whether the text `host` names the loopback interface: an address in
// 127.0.0.0/8, ::1, or "localhost". A name such as "127.example.com" does not.
inline bool IsLoopback(std::string_view host) {
  const bool is_numeric =
      host.find_first_not_of("0123456789.") == std::string_view::npos;
  return (host.substr(0, 4) == "127." && is_numeric) || host == "::1" ||
         host == "localhost";
}

}  // namespace muster

#endif  // MUSTER_BASE_LOOPBACK_H_
