#ifndef MUSTER_RENDEZVOUS_PROTOCOL_SIGNAL_NAMES_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_SIGNAL_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

namespace muster::rendezvous {

// Returns "SIGTERM" for 15, "SIGRTMIN+2" for a real-time signal, and "signal
// 99" for a number that is no signal.
std::string SignalName(int number);

// Returns the number of "SIGTERM", "TERM", "15", "SIGRTMIN+2" or "RTMAX-1", in
// any letter case; nullopt if `name` is no signal of this system.
std::optional<int> SignalNumber(std::string_view name);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_SIGNAL_NAMES_H_
