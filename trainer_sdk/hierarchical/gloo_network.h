#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_GLOO_NETWORK_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_GLOO_NETWORK_H_

#include "trainer_sdk/hierarchical/hierarchical_transport.h"

namespace muster {

// Gloo, with GlooOptions from the environment, for
// HierarchicalOptions::network. In a file of its own because it links libgloo.
NetworkFactory GlooNetwork();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_GLOO_NETWORK_H_
