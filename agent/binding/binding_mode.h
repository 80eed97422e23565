#ifndef MUSTER_AGENT_BINDING_BINDING_MODE_H_
#define MUSTER_AGENT_BINDING_BINDING_MODE_H_

namespace muster::agent {

// The cores and memory to which a worker is bound (torchrun's --numa-binding).
enum class Binding {
  kNone,
  kNode,         // all cores of the NUMA node near the worker
  kSocket,       // all cores of that node's socket
  kExclusive,    // a share of the node's cores, not shared with other workers
  kCoreComplex,  // the cores of one last-level cache of the node
};

// The value of --numa-binding for this mode; "none" for kNone.
const char* BindingName(Binding mode);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_BINDING_MODE_H_
