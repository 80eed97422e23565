#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_GLOO_NETWORK_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_GLOO_NETWORK_H_

#include "trainer_sdk/hierarchical/hierarchical_transport.h"

namespace muster {

// Gloo, from GlooOptions as the environment gives them. For
// HierarchicalOptions::network; apart from it, for this links libgloo.
NetworkFactory GlooNetwork();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_GLOO_NETWORK_H_
