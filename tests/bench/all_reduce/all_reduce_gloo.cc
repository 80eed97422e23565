// Measures Gloo's all_reduce over TCP on loopback, with one process for each
// rank.
//
//   all_reduce_gloo RANKS ring|bcube kept|written BYTES...
//
// kept: nothing writes the data between two calls. written: each rank writes
// its data before each call (`contents` of MeasureAllReduce, measure.h).

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/all_reduce/measure.h"

namespace {

void RunRank(int rank, int size, bool bcube, const std::string& folder,
             const std::string& contents, const std::vector<int64_t>& sizes) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->connectFullMesh(store, device);
  std::vector<float> data(muster::Longest(sizes) / sizeof(float));
  uint32_t tag = 0;
  muster::MeasureAllReduce(
      rank, contents, data.data(), sizes, [&](int64_t bytes) {
        gloo::AllreduceOptions options(context);
        options.setOutput(data.data(), bytes / sizeof(float));
        options.setAlgorithm(bcube ? gloo::AllreduceOptions::Algorithm::BCUBE
                                   : gloo::AllreduceOptions::Algorithm::RING);
        options.setReduceFunction(
            [](void* to, const void* a, const void* b, size_t count) {
              gloo::sum<float>(to, a, b, count);
            });
        options.setTag(++tag);
        gloo::allreduce(options);
      });
}

}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 0;
  const bool bcube = argc > 2 && std::strcmp(argv[2], "bcube") == 0;
  const std::string contents = argc > 3 ? argv[3] : "";
  if (size < 1) {
    std::fprintf(
        stderr,
        "usage: all_reduce_gloo RANKS ring|bcube kept|written BYTES...\n");
    return 2;
  }
  const std::vector<int64_t> sizes = muster::SizesOf(argc, argv, 4);
  char folder[] = "/tmp/all_reduce_gloo_XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      RunRank(rank, size, bcube, folder, contents, sizes);
      std::fflush(nullptr);
      _exit(0);
    }
    children.push_back(pid);
  }
  int code = 0;
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    if (status != 0) code = 1;
  }
  std::filesystem::remove_all(folder);
  return code;
}
