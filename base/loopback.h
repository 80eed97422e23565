#ifndef MUSTER_BASE_LOOPBACK_H_
#define MUSTER_BASE_LOOPBACK_H_

#include <string_view>

namespace muster {

// Whether the text `host` names the loopback interface: an address in
// 127.0.0.0/8, ::1, or "localhost".
inline bool IsLoopback(std::string_view host) {
  return host.substr(0, 4) == "127." || host == "::1" || host == "localhost";
}

}  // namespace muster

#endif  // MUSTER_BASE_LOOPBACK_H_
