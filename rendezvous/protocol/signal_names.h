#ifndef MUSTER_RENDEZVOUS_PROTOCOL_SIGNAL_NAMES_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_SIGNAL_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// "SIGTERM" for 15, "SIGRTMIN+2" for a real-time signal, "signal 99" for what
// is none.
std::string SignalName(int number);

// The number of "SIGTERM", "TERM", "15", "SIGRTMIN+2" or "RTMAX-1", in any
// letter case. Nothing for what names no signal of this system.
std::optional<int> SignalNumber(std::string_view name);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_SIGNAL_NAMES_H_
