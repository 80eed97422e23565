#include "models/trainer/new_cuda_trainer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "models/cuda/open_device.h"
#include "models/trainer/cuda_gpt_trainer.h"
#include "trainer_sdk/transports/new_transport.h"

namespace muster::models {
namespace {

absl::StatusOr<std::unique_ptr<cuda::Device>> OpenDevice(Session& session) {
  const absl::StatusOr<int> ordinal = ChooseCudaDevice(
      cuda::CountDevices(), session.local_rank(), session.local_world_size());
  if (!ordinal.ok()) return ordinal.status();
  auto device = cuda::OpenDevice(*ordinal);
  if (!device.ok()) {
    return absl::Status(
        device.status().code(),
        absl::StrCat("--device cuda: there is no GPU here that can be used: ",
                     device.status().message()));
  }
  return *std::move(device);
}

// Creates the group over which gradients are averaged. Returns null in a world
// of one rank, where there is nothing to average.
absl::StatusOr<std::unique_ptr<ProcessGroup>> NewGradientGroup(
    Session& session) {
  if (session.world_size() == 1) return nullptr;
  return NewProcessGroup({.rank = session.rank(),
                          .size = session.world_size(),
                          .store = session.store(),
                          .name = "gradients"},
                         TransportChoice::kNccl);
}

template <typename T>
absl::StatusOr<std::unique_ptr<GptTrainer>> Create(
    const GptTrainingOptions& options, std::shared_ptr<const Tokens> tokens,
    Session& session, ProcessGroup& world) {
  auto device = OpenDevice(session);
  if (!device.ok()) return device.status();
  auto gradients = NewGradientGroup(session);
  if (!gradients.ok()) return gradients.status();
  return CudaGptTrainer<T>::Create(options, std::move(tokens), world,
                                   *std::move(device), *std::move(gradients));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GptTrainer>> NewCudaTrainer(
    const GptTrainingOptions& options, std::shared_ptr<const Tokens> tokens,
    Session& session, ProcessGroup& world) {
  return options.precision == DType::kBFloat16
             ? Create<cuda::Bfloat16>(options, std::move(tokens), session,
                                      world)
             : Create<float>(options, std::move(tokens), session, world);
}

}  // namespace muster::models
