#ifndef MUSTER_AGENT_BINDING_BINDING_TEXT_H_
#define MUSTER_AGENT_BINDING_BINDING_TEXT_H_

#include <cstddef>
#include <string>

#include "agent/binding/binding_mode.h"
#include "agent/binding/binding_plan.h"

namespace muster::agent {

// A node's binding in one short line, its workers by local rank: "node: 0-15 |
// 16-31", "socket: 0-31 x4 | 32-63 x4". Behind the CPUs is the network card
// near the GPU, where one is: "node: 0-15@mlx5_0 | 16-31@mlx5_1", and for
// workers of the same CPUs each one's, "-" for none: "node: 0-31
// x3@mlx5_0,mlx5_1,-". Cut behind a worker where it would be longer than `most`
// bytes, which are at least
// 40. Pure.
std::string BindingText(Binding mode, const BindingPlan& plan, size_t most);

// The same with the reason, for the beginning of a run. Pure.
std::string BindingRemark(Binding mode, const BindingPlan& plan);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_BINDING_TEXT_H_
