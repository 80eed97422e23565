#include "trainer_sdk/gloo/gloo_plugin.h"

namespace muster {

absl::StatusOr<const GlooPlugin*> LoadGlooPlugin() {
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
