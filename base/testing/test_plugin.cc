// Defines MusterTestPlugin, the entry point of the plugin for tests. The macro
// MUSTER_TEST_PLUGIN_NEWER is 1 for the plugin that pretends to be of a newer
// version, otherwise 0.
#include "base/testing/test_plugin.h"

extern "C" const muster::TestPlugin* MusterTestPlugin() {
  static constexpr muster::TestPlugin kPlugin = {
      .version = muster::TestPlugin::Version() + MUSTER_TEST_PLUGIN_NEWER,
      .number = [] { return 42; }};
  return &kPlugin;
}
