// Fits a line to a thousand points, on any number of processes:
//   launch --standalone --nproc-per-node 2 ./tutorial

#include <iostream>

#include "trainer_sdk/data/distributed_sampler.h"
#include "trainer_sdk/data_parallel/data_parallel.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/session/stop_request.h"
#include "trainer_sdk/transports/session_world.h"

using namespace muster;

// value() throws if there is an error.
int main() {
  // This process's place in the world, whatever launched it.
  auto session = Session::FromEnvironment().value();
  const int rank = session->rank(), ranks = session->world_size();

  // The group of all ranks: shared memory on one host, TCP between hosts.
  auto world = NewWorld(*session).value();

  // The examples of this rank, in a different order in each epoch.
  const DistributedSamplerOptions share{
      .length = 1000, .rank = rank, .world_size = ranks};
  auto sampler = DistributedSampler::Create(share).value();

  // The model is y = line[0] * x + line[1]. Its gradient is averaged over all
  // ranks, and SGD updates it.
  float line[2] = {}, gradient[2] = {};
  const std::vector<Tensor> tensors = {{"line", {2}, line, gradient}};
  const auto rule = SgdRule({.momentum = 0.9});
  auto model = DataParallel::Create(*world, tensors, rule).value();

  StopRequest::Listen();  // SIGTERM and Ctrl-C now only request a stop.
  for (int epoch = 1; epoch <= 300; ++epoch) {
    absl::Status status = model->Begin();
    double loss = gradient[0] = gradient[1] = 0;
    for (const int64_t i : sampler.Indices(epoch)) {
      const float x = i / 1000.f, y = 3 * x + 2;
      const float error = line[0] * x + line[1] - y;
      loss += error * error / sampler.size();
      gradient[0] += 2 * error * x / sampler.size();
      gradient[1] += 2 * error / sampler.size();
    }
    // A larger model calls MarkReady for each gradient as soon as the backward
    // pass has computed it.
    status.Update(model->Finish());
    status.Update(model->Step({.step = epoch, .learning_rate = 0.3}));
    if (!status.ok()) throw absl::BadStatusOrAccess(status);

    session->progress().Send({.step = epoch, .loss = loss});
    // Save a checkpoint here: all ranks stop after the same step.
    if (StopRequest::AskedAnyone(*world).value()) break;
  }
  if (rank == 0) std::cout << "y = " << line[0] << " x + " << line[1] << "\n";
}
