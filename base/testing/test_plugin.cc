// Defines MusterTestPlugin, the entry point of the plugin for tests. The
// plugin's version is the version in test_plugin.h plus
// MUSTER_TEST_PLUGIN_NEWER.
#include "base/testing/test_plugin.h"

extern "C" const muster::TestPlugin* MusterTestPlugin() {
  static constexpr muster::TestPlugin kPlugin = {
      .version = muster::TestPlugin::Version() + MUSTER_TEST_PLUGIN_NEWER,
      .number = [] { return 42; }};
  return &kPlugin;
}
