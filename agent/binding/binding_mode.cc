#include "agent/binding/binding_mode.h"

namespace muster::agent {

const char* BindingName(Binding mode) {
  switch (mode) {
    case Binding::kNone:
      return "none";
    case Binding::kNode:
      return "node";
    case Binding::kSocket:
      return "socket";
    case Binding::kExclusive:
      return "exclusive";
    case Binding::kCoreComplex:
      return "core-complex";
  }
  return "none";
}

}  // namespace muster::agent
