// The source of libmuster_gloo.so: implements the functions of GlooPlugin with
// Gloo. It is linked into no other file.
#include <gloo/context.h>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/address.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "trainer_sdk/gloo/gloo_plugin.h"

// Replaces libgloo's function of the same name, which Gloo's thread calls for
// each new connection. If the peer has reset the connection meanwhile,
// libgloo's version throws an exception in that thread, which ends the process.
// This version throws nothing: Gloo then finds the reset when it reads from the
// connection, and only this connection fails. The replacement works because
// libgloo calls the function by its symbol. The dynamic linker looks for this
// symbol first in the loaded plugin and then in libgloo. GlooPluginTest fails
// if the replacement has no effect.
__attribute__((visibility("default"))) gloo::transport::tcp::Address
gloo::transport::tcp::Address::fromPeerName(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
    peer = sockaddr_storage{};
    peer.ss_family = AF_INET;  // unknown address: Gloo will print 0.0.0.0
  }
  return Address(peer);
}

namespace muster {
namespace {

using Buffer = gloo::transport::UnboundBuffer;

// Blocks SIGPIPE in the calling thread while this object lives, so that a write
// to a broken connection does not kill the process. Threads started meanwhile
// keep the signal blocked. The process's signal disposition is unchanged.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    const sigset_t blocked = Sigpipe();
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~WithoutSigpipe() {
    const int error = errno;
    if (sigismember(&before_, SIGPIPE) == 0) {
      // Consume a pending SIGPIPE; otherwise it would be delivered when the
      // mask is restored. SIGPIPE is sent to the thread that writes, so a write
      // in this scope caused it.
      const sigset_t blocked = Sigpipe();
      const timespec at_once{};
      while (sigtimedwait(&blocked, nullptr, &at_once) < 0 && errno == EINTR) {
      }
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    errno = error;
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  static sigset_t Sigpipe() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
  }

  sigset_t before_;
};

void Write(const void* data, size_t size, GlooText* text) {
  text->size = std::min(size, sizeof(text->bytes));
  std::memcpy(text->bytes, data, text->size);
}

// Runs `call`, which calls Gloo, and converts exceptions to kFailed. `call`
// returns false if it was interrupted.
template <typename Call>
GlooOutcome Guard(GlooText* why, const Call& call) {
  const WithoutSigpipe guard;
  try {
    return call() ? GlooOutcome::kDone : GlooOutcome::kInterrupted;
  } catch (const std::exception& e) {
    Write(e.what(), std::strlen(e.what()), why);
    return GlooOutcome::kFailed;
  }
}

// Runs `call`, which closes connections of Gloo, and ignores exceptions.
template <typename Call>
void GuardWithoutError(const Call& call) {
  GlooText ignored;
  Guard(&ignored, [&] {
    call();
    return true;
  });
}

template <typename Ip>
int Compare(const Ip& one, const Ip& other, uint16_t port,
            uint16_t other_port) {
  const int ip = std::memcmp(&one, &other, sizeof(one));
  return ip != 0 ? ip : port - other_port;
}

// Whether this rank opens the connection to the peer. In Gloo, the rank with
// the larger address opens the connection; ports are compared in network byte
// order.
bool Calls(const std::vector<char>& mine, const std::vector<char>& theirs) {
  using gloo::transport::tcp::Address;
  const sockaddr_storage self = Address(mine).getSockaddr();
  const sockaddr_storage peer = Address(theirs).getSockaddr();
  if (self.ss_family != peer.ss_family) return false;
  if (self.ss_family == AF_INET) {
    sockaddr_in a;
    sockaddr_in b;
    std::memcpy(&a, &self, sizeof(a));
    std::memcpy(&b, &peer, sizeof(b));
    return Compare(a.sin_addr, b.sin_addr, a.sin_port, b.sin_port) > 0;
  }
  sockaddr_in6 a;
  sockaddr_in6 b;
  std::memcpy(&a, &self, sizeof(a));
  std::memcpy(&b, &peer, sizeof(b));
  return Compare(a.sin6_addr, b.sin6_addr, a.sin6_port, b.sin6_port) > 0;
}

// A Gloo context whose pairs are created before they are connected. So Connect
// can be interrupted, which Gloo's own rendezvous cannot. Every method may
// throw Gloo's exceptions.
class MeshContext final : public gloo::Context {
 public:
  MeshContext(int rank, int size,
              std::shared_ptr<gloo::transport::Device> device,
              std::chrono::milliseconds timeout)
      : gloo::Context(rank, size) {
    setTimeout(timeout);
    device_ = std::move(device);
    transportContext_ = device_->createContext(rank, size);
    transportContext_->setTimeout(timeout);
    for (int peer = 0; peer < size; ++peer) {
      if (peer != rank) transportContext_->createPair(peer);
    }
  }

  void Connect(int peer, const std::vector<char>& theirs) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (interrupted_) return;
      connecting_ = peer;
      calls_ = Calls(getPair(peer)->address().bytes(), theirs);
    }
    struct Over {
      MeshContext& context;
      ~Over() {
        const std::lock_guard<std::mutex> lock(context.mutex_);
        context.connecting_ = kNobody;
        context.over_.notify_all();
      }
    } const over{*this};
    getPair(peer)->connect(theirs);
  }

  void Interrupt() {
    std::unique_lock<std::mutex> lock(mutex_);
    interrupted_ = true;
    const auto is_over = [this] { return connecting_ == kNobody; };
    if (calls_) over_.wait_for(lock, kCallGrace, is_over);
    if (!is_over()) getPair(connecting_)->close();
  }

 private:
  static constexpr int kNobody = -1;
  // If this rank opens the connection, Interrupt waits this long for a running
  // Connect, before it closes the pair. A connection to a live host is complete
  // within this time. Closing the pair earlier could end the peer's process
  // (see GlooPlugin::reset_connections).
  static constexpr std::chrono::milliseconds kCallGrace{250};

  std::mutex mutex_;
  std::condition_variable over_;
  // Whether Interrupt was called. This and the following members are guarded by
  // mutex_.
  bool interrupted_ = false;
  int connecting_ = kNobody;
  // While Connect runs: whether this rank opens the connection to the peer
  // `connecting_`. If not, that peer opens the connection.
  bool calls_ = false;
};

MeshContext* Context(void* context) {
  return static_cast<MeshContext*>(context);
}

const GlooPlugin kPlugin = {
    .version = GlooPlugin::Version(),
    .new_context = [](const char* host, int32_t rank, int32_t size,
                      int64_t timeout_ms, GlooText* why) -> void* {
      std::unique_ptr<MeshContext> context;
      Guard(why, [&] {
        gloo::transport::tcp::attr attributes;
        attributes.hostname = host;
        context = std::make_unique<MeshContext>(
            rank, size, gloo::transport::tcp::CreateDevice(attributes),
            std::chrono::milliseconds(timeout_ms));
        return true;
      });
      return context.release();
    },
    .delete_context =
        [](void* context) {
          const WithoutSigpipe guard;
          delete Context(context);
        },
    .address =
        [](void* context, int32_t peer, GlooText* address) noexcept {
          const std::vector<char> bytes =
              Context(context)->getPair(peer)->address().bytes();
          Write(bytes.data(), bytes.size(), address);
        },
    .connect =
        [](void* context, int32_t peer, const char* address, size_t bytes,
           GlooText* why) {
          return Guard(why, [&] {
            Context(context)->Connect(peer, {address, address + bytes});
            return true;
          });
        },
    .interrupt_connect =
        [](void* context) {
          GuardWithoutError([&] { Context(context)->Interrupt(); });
        },
    .reset_connections =
        [](void* context) {
          GuardWithoutError([&] { Context(context)->closeConnections(); });
        },
    .new_buffer = [](void* context, void* data,
                     size_t bytes) noexcept -> void* {
      return Context(context)->createUnboundBuffer(data, bytes).release();
    },
    .delete_buffer =
        [](void* buffer) {
          const WithoutSigpipe guard;
          delete static_cast<Buffer*>(buffer);
        },
    .send =
        [](void* buffer, int32_t peer, uint64_t slot, GlooText* why) {
          return Guard(why, [&] {
            static_cast<Buffer*>(buffer)->send(peer, slot);
            return true;
          });
        },
    .receive =
        [](void* buffer, int32_t peer, uint64_t slot, GlooText* why) {
          return Guard(why, [&] {
            static_cast<Buffer*>(buffer)->recv(peer, slot);
            return true;
          });
        },
    .wait_send =
        [](void* buffer, int64_t timeout_ms, GlooText* why) {
          return Guard(why, [&] {
            return static_cast<Buffer*>(buffer)->waitSend(
                std::chrono::milliseconds(timeout_ms));
          });
        },
    .wait_receive =
        [](void* buffer, int64_t timeout_ms, GlooText* why) {
          return Guard(why, [&] {
            return static_cast<Buffer*>(buffer)->waitRecv(
                std::chrono::milliseconds(timeout_ms));
          });
        },
    .interrupt =
        [](void* buffer) {
          static_cast<Buffer*>(buffer)->abortWaitRecv();
          static_cast<Buffer*>(buffer)->abortWaitSend();
        },
};

}  // namespace
}  // namespace muster

extern "C" __attribute__((visibility("default"))) const muster::GlooPlugin*
MusterGlooPlugin() {
  return &muster::kPlugin;
}
