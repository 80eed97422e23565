// Gloo's all_reduce without Muster, with Gloo's own algorithms and threads.
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tests/bench/all_reduce_namespaces/worker.h"

namespace muster {
namespace {

std::shared_ptr<gloo::Context> Connect(const WorkerOptions& options) {
  // The folder in which the ranks exchange their addresses. Its name is unique
  // for each run, because all network namespaces share one file system.
  const std::string folder = std::string(std::getenv("GLOO_STORE_FOLDER"));
  gloo::rendezvous::FileStore store(folder);
  gloo::transport::tcp::attr attributes;
  attributes.hostname = options.address;
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  auto context =
      std::make_shared<gloo::rendezvous::Context>(options.rank, options.size);
  context->connectFullMesh(store, device);
  return context;
}

SumInPlace With(const WorkerOptions& options,
                gloo::AllreduceOptions::Algorithm algorithm) {
  return [context = Connect(options), algorithm](float* data, int64_t count) {
    gloo::AllreduceOptions call(context);
    call.setAlgorithm(algorithm);
    call.setOutput(data, count);
    call.setReduceFunction([](void* out, const void* a, const void* b,
                              size_t n) { gloo::sum<float>(out, a, b, n); });
    gloo::allreduce(call);
  };
}

}  // namespace

SumInPlace GlooRing(const WorkerOptions& options) {
  return With(options, gloo::AllreduceOptions::Algorithm::RING);
}

SumInPlace GlooBcube(const WorkerOptions& options) {
  return With(options, gloo::AllreduceOptions::Algorithm::BCUBE);
}

SumInPlace GlooHalvingDoubling(const WorkerOptions& options) {
  using Algorithm = gloo::AllreduceHalvingDoubling<float>;
  // bound->first: the buffer of the last call. bound->second: Gloo's algorithm
  // object for this buffer. Such an object works only with the buffer and the
  // size that its constructor got.
  auto bound =
      std::make_shared<std::pair<float*, std::unique_ptr<Algorithm>>>();
  return [context = Connect(options), bound, size = int64_t{0}](
             float* data, int64_t count) mutable {
    if (bound->first != data || size != count) {
      bound->second = std::make_unique<Algorithm>(
          context, std::vector<float*>{data}, static_cast<int>(count));
      bound->first = data;
      size = count;
    }
    bound->second->run();
  };
}

}  // namespace muster
