#ifndef MUSTER_BASE_TESTING_TEST_PLUGIN_H_
#define MUSTER_BASE_TESTING_TEST_PLUGIN_H_

#include <cstdint>

#include "base/dynamic_library.h"

namespace muster {

// The table of functions of libmuster_test.so, a test plugin that is built in
// two versions.
struct TestPlugin {
  static constexpr uint64_t Version() { return PluginVersion<TestPlugin>(1); }

  uint64_t version;
  int (*number)();
};

}  // namespace muster

#endif  // MUSTER_BASE_TESTING_TEST_PLUGIN_H_
