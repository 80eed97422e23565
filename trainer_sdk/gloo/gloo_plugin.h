#ifndef MUSTER_TRAINER_SDK_GLOO_GLOO_PLUGIN_H_
#define MUSTER_TRAINER_SDK_GLOO_GLOO_PLUGIN_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/dynamic_library.h"

namespace muster {

// A text or byte string that a function of libmuster_gloo.so returns through an
// output argument: an error message, or a rank's network address as Gloo
// encodes it. `size`: the number of valid bytes in `bytes`.
struct GlooText {
  size_t size = 0;
  char bytes[1024];

  std::string Text() const { return std::string(bytes, size); }
};

enum class GlooOutcome : int32_t {
  kDone,
  kInterrupted,  // GlooPlugin::interrupt ended the wait
  kFailed,       // Gloo has thrown an exception
};

// The functions of libmuster_gloo.so, the only file of Muster that needs
// libgloo. Only C types, and no exceptions, cross this boundary: the plugin and
// the program may have different copies of Abseil and of the C++ library.
//
// A function that can fail writes Gloo's error message to `why`. SIGPIPE is
// blocked in a thread while it runs a function that calls Gloo, because Gloo
// writes to broken connections without MSG_NOSIGNAL. In Gloo's own thread
// SIGPIPE is always blocked.
struct GlooPlugin {
  static constexpr uint64_t Version() {
    return PluginVersion<GlooPlugin, GlooText>(1);
  }

  // The value of Version() when libmuster_gloo.so was compiled. A program
  // rejects a plugin that has another version than the program itself.
  uint64_t version;

  // Makes a Gloo context for `rank` in a group of `size` ranks. The context has
  // one Gloo pair (one end of a connection) for each peer. The pairs listen at
  // the address `host`, and are connected later by `connect`, which can be
  // interrupted. `timeout_ms` limits each wait of a pair, in milliseconds; a
  // call of `connect` may take five times as long. Returns null on failure.
  void* (*new_context)(const char* host, int32_t rank, int32_t size,
                       int64_t timeout_ms, GlooText* why);
  // Closes the connections gracefully and deletes the context. Delete the
  // context's buffers first.
  void (*delete_context)(void* context);
  // Writes the address to which `peer` must connect to reach this rank.
  void (*address)(void* context, int32_t peer, GlooText* address);
  // Connects this rank with `peer`, which must call this function as well.
  // Blocks until the two ranks are connected. `address`: the peer's address for
  // this rank. After interrupt_connect, `connect` does nothing and returns
  // kDone.
  GlooOutcome (*connect)(void* context, int32_t peer, const char* address,
                         size_t bytes, GlooText* why);
  // Makes a running `connect` fail, and makes all later calls of `connect` do
  // nothing. Any thread.
  void (*interrupt_connect)(void* context);
  // Resets all connections. Any thread. Call it only when all pairs are
  // connected. If a peer has not accepted its connection yet, a reset makes
  // Gloo's thread in the peer throw an exception (Gloo of May 2022), which ends
  // the peer's process.
  void (*reset_connections)(void* context);

  // Makes a buffer for sending or receiving the `bytes` bytes at `data`.
  void* (*new_buffer)(void* context, void* data, size_t bytes);
  void (*delete_buffer)(void* buffer);
  // `send` and `receive` start a transfer. The data of a `send` goes to the
  // peer's `receive` with the same `slot`. `wait_send` and `wait_receive` wait
  // until the transfer is complete, for at most `timeout_ms` milliseconds.
  GlooOutcome (*send)(void* buffer, int32_t peer, uint64_t slot, GlooText* why);
  GlooOutcome (*receive)(void* buffer, int32_t peer, uint64_t slot,
                         GlooText* why);
  GlooOutcome (*wait_send)(void* buffer, int64_t timeout_ms, GlooText* why);
  GlooOutcome (*wait_receive)(void* buffer, int64_t timeout_ms, GlooText* why);
  // Ends a running wait_send or wait_receive of `buffer`, which then returns
  // kInterrupted. Any thread.
  void (*interrupt)(void* buffer);
};

// Loads libmuster_gloo.so, once in the process, from the places that
// LoadPluginFile (base/dynamic_library.h) searches. NotFound: the plugin or
// libgloo is missing; the message says what to do. FailedPrecondition: the
// plugin has another version than this program.
inline absl::StatusOr<const GlooPlugin*> LoadGlooPlugin() {
  static const auto* const plugin =
      new absl::StatusOr<const GlooPlugin*>(LoadPlugin<GlooPlugin>(
          {.file = "libmuster_gloo.so",
           .folder = "trainer_sdk/gloo",
           .user = "the Gloo transport",
           .if_not_loaded = "install libgloo (Debian: libgloo0)",
           .if_missing = "Muster's tools/install puts it into PREFIX/lib"},
          "MusterGlooPlugin"));
  return *plugin;
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_PLUGIN_H_
