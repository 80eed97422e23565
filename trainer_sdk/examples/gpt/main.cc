// Trains a small transformer on a text: a Session, a process group, DDP. Runs
// under `launch`, torchrun, mpirun and srun, and alone:
//
//   bazel build --config=opt //trainer_sdk/examples/gpt
//   cd bazel-bin/trainer_sdk/examples/gpt
//   launch --standalone --nproc-per-node 2 gpt --data text --micro-batches 2

#include <iostream>
#include <memory>

#include "trainer_sdk/examples/gpt/gpt_options.h"
#include "trainer_sdk/examples/gpt/train_command.h"
#include "trainer_sdk/session/session.h"

namespace muster {
namespace {

int Main(int argc, char** argv) {
  int exit_code = 2;
  const auto options = ReadGptOptions(argc, argv, &exit_code);
  if (!options.ok()) {
    (exit_code == 0 ? std::cout : std::cerr) << options.status().message();
    return exit_code;
  }
  auto session = Session::FromEnvironment();
  if (!session.ok()) {
    std::cerr << "gpt: " << session.status().message() << "\n";
    return 1;
  }
  const absl::Status status = TrainGpt(*options, **session);
  if (!status.ok()) {
    std::cerr << "gpt: rank " << (*session)->rank() << ": " << status.message()
              << "\n";
  }
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Main(argc, argv); }
