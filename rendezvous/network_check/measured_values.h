#ifndef MUSTER_RENDEZVOUS_NETWORK_CHECK_MEASURED_VALUES_H_
#define MUSTER_RENDEZVOUS_NETWORK_CHECK_MEASURED_VALUES_H_

#include <string>

namespace muster::rendezvous {

// Whether `value` is finite and above 0.
bool IsPositive(double value);

// Return a value as text with three significant digits and its unit, such as
// "941 MB/s" or "0.21 ms".
std::string RateText(double bytes_per_s);
std::string TimeText(double seconds);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_NETWORK_CHECK_MEASURED_VALUES_H_
