#ifndef MUSTER_BASE_LOOPBACK_H_
#define MUSTER_BASE_LOOPBACK_H_

#include <string_view>

namespace muster {

// Whether `host` is an address of this machine alone, as text: 127.0.0.0/8, ::1
// or the name "localhost".
inline bool IsLoopback(std::string_view host) {
  return host.substr(0, 4) == "127." || host == "::1" || host == "localhost";
}

}  // namespace muster

#endif  // MUSTER_BASE_LOOPBACK_H_
