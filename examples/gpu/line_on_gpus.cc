// Fits a line to a thousand points, with the model on one GPU per process:
//   launch --standalone --nproc-per-node gpu ./line_on_gpus

#include <iostream>
#include <memory>

#include "trainer_sdk/cuda/cuda_device.h"
#include "trainer_sdk/data_parallel/data_parallel.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/session_world.h"

using namespace muster;

// value() throws if there is an error.
int main() try {
  auto session = Session::FromEnvironment().value();
  const int rank = session->rank(), ranks = session->world_size();

  // This process's GPU, and the group of all ranks, whose operations accept
  // GPU memory.
  auto device =
      OpenLocalCudaDevice(session->local_rank(), session->local_world_size())
          .value();
  auto world = NewWorld(*session, TransportChoice::kNccl).value();

  // The model is y = line[0] * x + line[1]. Weights, gradient and the state of
  // AdamW are in the GPU's memory; each rank has a part of the state (ZeRO-1).
  auto memory = device->Allocate(4 * sizeof(float)).value();
  float* const weights = static_cast<float*>(memory.get());
  float* const gradients = weights + 2;
  const float zeros[4] = {};
  device->CopyIn(weights, zeros, sizeof(zeros));
  const std::vector<Tensor> tensors = {
      {"line", {2}, {weights, 2}, {gradients, 2}}};
  auto model =
      DataParallel::Create(*world, tensors, AdamWRule({.weight_decay = 0}),
                           {.ddp = {.device = device.get()},
                            .state = DataParallelOptions::State::kSharded})
          .value();

  for (int step = 1; step <= 500; ++step) {
    absl::Status status = model->Begin();
    // Larger models run kernels here, on device->stream(). This model is small
    // enough for the host.
    float line[2], gradient[2] = {};
    device->CopyOut(line, weights, sizeof(line));
    for (int i = rank; i < 1000; i += ranks) {
      const float x = i / 1000.f, error = line[0] * x + line[1] - (3 * x + 2);
      gradient[0] += 2 * error * x * ranks / 1000;
      gradient[1] += 2 * error * ranks / 1000;
    }
    device->CopyIn(gradients, gradient, sizeof(gradient));
    // Averages the gradients of all ranks and updates the weights. Neither call
    // waits for the GPU.
    status.Update(model->Finish());
    status.Update(model->Step({.step = step, .learning_rate = 0.1}));
    if (!status.ok()) throw absl::BadStatusOrAccess(status);
  }
  // Waits for the GPU. After an error, the weights are not valid.
  const absl::Status status = model->reducer().Confirm();
  if (!status.ok()) throw absl::BadStatusOrAccess(status);
  float line[2];
  device->CopyOut(line, weights, sizeof(line));
  if (rank == 0) std::cout << "y = " << line[0] << " x + " << line[1] << "\n";
} catch (const absl::BadStatusOrAccess& error) {
  std::cerr << error.status() << "\n";
  return 1;
}
