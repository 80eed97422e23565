// A test program that loads libmuster_test.so as a plugin. Prints the file and
// a number that the plugin returns, or the error.
#include <iostream>

#include "base/dynamic_library.h"
#include "base/testing/test_plugin.h"

int main() {
  const muster::PluginName plugin = {.file = "libmuster_test.so",
                                     .folder = "base/testing",
                                     .user = "the test",
                                     .if_not_loaded = "repair it",
                                     .if_missing = "install it"};
  const auto table =
      muster::LoadPlugin<muster::TestPlugin>(plugin, "MusterTestPlugin");
  if (!table.ok()) {
    std::cout << table.status();
    return 0;
  }
  std::cout << muster::LoadPluginFile(plugin)->name() << ": "
            << (*table)->number();
}
