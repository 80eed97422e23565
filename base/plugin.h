#ifndef MUSTER_BASE_PLUGIN_H_
#define MUSTER_BASE_PLUGIN_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dynamic_library.h"

namespace muster {

// A shared library of Muster that a program loads only when it is needed: its
// file name, and texts for the error messages if it cannot be loaded.
struct PluginName {
  const char* file;    // file name: "libmuster_gloo.so"
  const char* folder;  // the plugin's folder in Muster's source tree
  const char* user;    // name of the feature that needs the plugin
  // the advice to the user if the plugin's file exists but cannot be loaded
  const char* if_not_loaded;
  const char* if_missing;  // advice to the user if the file is missing
};

// Returns the path of the plugin's file; empty: not found. Searches three
// folders, in this order: the folder of the program (or shared library) that
// contains this code, the folder `lib` beside that folder, and the program's
// Bazel runfiles.
std::string FindPluginFile(const PluginName& plugin);

// Loads the plugin's file from the path that FindPluginFile returns. If that
// path is empty, searches the dynamic linker's search path. NotFound: the
// plugin or a library that it needs is missing; the message says what to do.
absl::StatusOr<DynamicLibrary> LoadPluginFile(const PluginName& plugin);

// Returns the error FailedPrecondition: `file` belongs to another version of
// Muster.
absl::Status OtherPluginVersion(const PluginName& plugin,
                                const DynamicLibrary& file);

// Computes the version of a plugin's table of functions from `number` and the
// sizes of the structs that program and plugin exchange, the table included.
// `number` is raised by hand whenever a function of the table changes its
// meaning.
template <typename... Structs>
constexpr uint64_t PluginVersion(uint64_t number) {
  ((number = number * 1'000'003 + sizeof(Structs)), ...);
  return number;
}

// Loads the plugin and calls its function `entry`, which returns the plugin's
// table of functions. FailedPrecondition: the table's first field, `version`,
// is not Table::Version().
template <typename Table>
absl::StatusOr<const Table*> LoadPlugin(const PluginName& plugin,
                                        const char* entry) {
  const absl::StatusOr<DynamicLibrary> file = LoadPluginFile(plugin);
  if (!file.ok()) return file.status();
  const Table* (*function)() = nullptr;
  if (!file->Find(entry, &function) ||
      function()->version != Table::Version()) {
    return OtherPluginVersion(plugin, *file);
  }
  return function();
}

}  // namespace muster

#endif  // MUSTER_BASE_PLUGIN_H_
