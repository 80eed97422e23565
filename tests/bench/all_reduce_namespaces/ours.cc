#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/channel_key.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "tests/bench/all_reduce_namespaces/worker.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/store/tcp_store.h"
#include "trainer_sdk/tcp/tcp_transport.h"

namespace muster {
namespace {

constexpr Duration kOperationTimeout = std::chrono::seconds(60);

GroupPlace PlaceOf(const WorkerOptions& options, const std::string& name) {
  TcpStoreOptions where;
  where.host = options.store_host;
  where.port = options.store_port;
  where.connect_deadline = MonotonicNow() + kOperationTimeout;
  auto store = TcpStore::Connect(where);
  MUSTER_CHECK(store.ok()) << store.status();
  return GroupPlace{options.rank, options.size,
                    std::make_shared<PrefixStore>(
                        name, std::shared_ptr<Store>(*std::move(store))),
                    name};
}

SumInPlace Over(std::shared_ptr<Transport> transport) {
  return
      [transport, sequence = uint64_t{0}](float* data, int64_t count) mutable {
        const absl::Status status = transport->Execute(
            AllReduce(data, data, count, DType::kFloat32),
            OperationContext{++sequence, MonotonicNow() + kOperationTimeout});
        MUSTER_CHECK(status.ok()) << status;
      };
}

SumInPlace OverTcp(const WorkerOptions& options,
                   const std::string& channel_key) {
  TcpOptions tcp;
  tcp.address.interface = options.address;
  tcp.channel_key = channel_key;
  auto transport = NewTcpTransport(PlaceOf(options, "tcp"), tcp,
                                   MonotonicNow() + kOperationTimeout);
  MUSTER_CHECK(transport.ok()) << transport.status();
  return Over(*std::move(transport));
}

}  // namespace

SumInPlace OursOverTcp(const WorkerOptions& options) {
  return OverTcp(options, "");
}

SumInPlace OursOverEncryptedTcp(const WorkerOptions& options) {
  return OverTcp(options, std::string(kChannelKeyBytes, 'k'));
}

SumInPlace OursOverGloo(const WorkerOptions& options) {
  GlooOptions gloo;
  gloo.address.interface = options.address;
  auto transport = NewGlooTransport(PlaceOf(options, "gloo"), gloo,
                                    MonotonicNow() + kOperationTimeout);
  MUSTER_CHECK(transport.ok()) << transport.status();
  return Over(*std::move(transport));
}

}  // namespace muster
