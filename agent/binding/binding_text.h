#ifndef MUSTER_AGENT_BINDING_BINDING_TEXT_H_
#define MUSTER_AGENT_BINDING_BINDING_TEXT_H_

#include <cstddef>
#include <string>

#include "agent/binding/binding_mode.h"
#include "agent/binding/binding_plan.h"

namespace muster::agent {

// A node's binding in one short line, workers by local rank: "node: 0-15 |
// 16-31", "socket: 0-31 x4 | 32-63 x4". A network card near the GPU follows the
// CPUs: "node: 0-15@mlx5_0 | 16-31@mlx5_1"; if several workers have the same
// CPUs, one card for each, "-" for none: "node: 0-31 x3@mlx5_0,mlx5_1,-". Cut
// after a worker to at most `most` bytes (at least 40). Pure.
std::string BindingText(Binding mode, const BindingPlan& plan, size_t most);

// BindingText with the reason, for the beginning of a run. Pure.
std::string BindingRemark(Binding mode, const BindingPlan& plan);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_BINDING_TEXT_H_
