#ifndef MUSTER_RENDEZVOUS_VERSION_H_
#define MUSTER_RENDEZVOUS_VERSION_H_

namespace muster {

// What `rendezvousd --version` shows, besides the protocol's version.
inline constexpr char kRendezvousVersion[] = "0.1.0";

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_VERSION_H_
