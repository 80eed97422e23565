// A worker that is compiled outside of the project's build, against the
// installed SDK. It uses every part of the SDK that needs a system library.

#include <cmath>
#include <iostream>
#include <vector>

#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/new_transport.h"
#include "trainer_sdk/transports/session_world.h"

namespace {

// Returns the sum of 1 + rank over all ranks, computed by Gloo.
float SumOverGloo(muster::Session& session) {
  const auto world =
      muster::NewWorld(session, muster::TransportChoice::kGloo).value();
  float sum = 1.0f + static_cast<float>(session.rank());
  const absl::Status status =
      world->Run(muster::AllReduce(&sum, &sum, 1, muster::DType::kFloat32));
  return status.ok() ? sum : std::nanf("");
}

// Returns the average of a gradient over all ranks, computed by Reducer. A
// rank's gradient is its rank number.
float AverageByReducer(const muster::Session& session) {
  const auto world =
      muster::NewProcessGroup(
          {session.rank(), session.world_size(), session.store(), "gradients"},
          muster::TransportChoice::kAutomatic)
          .value();
  std::vector<float> gradient(1000, static_cast<float>(session.rank()));
  const muster::Tensor tensor{
      .name = "weight", .shape = {1000}, .gradient = gradient};
  const auto reducer = muster::Reducer::Create(*world, {tensor}).value();
  absl::Status status = reducer->Begin(muster::GradientSync::kReduce);
  status.Update(reducer->MarkReady(0));
  status.Update(reducer->Finish());
  return status.ok() ? gradient[999] : std::nanf("");
}

}  // namespace

int main() {
  const auto session = muster::Session::FromEnvironment().value();
  const float sum = SumOverGloo(*session);
  const float average = AverageByReducer(*session);
  float weight = 1, gradient = 1, mean = 0, square = 0;
  muster::AdamWStep({}, 0.1, 1, 1, &weight, &gradient, &mean, &square);
  if (session->rank() == 0) {
    std::cout << "sum " << sum << ", average " << average << ", weight "
              << weight << "\n";
  }
}
