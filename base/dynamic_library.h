#ifndef MUSTER_BASE_DYNAMIC_LIBRARY_H_
#define MUSTER_BASE_DYNAMIC_LIBRARY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster {

// A shared library that is loaded at run time. It is never unloaded, because
// its own threads (NCCL has some) may run its code until the process ends.
// Copyable.
class DynamicLibrary {
 public:
  // NotFound, with the loader's message: the file or a dependency is missing.
  static absl::StatusOr<DynamicLibrary> Load(const std::string& name);

  // Sets `*function` to the address of `symbol`. If this version of the library
  // has no such function, sets null and returns false.
  template <typename Function>
  bool Find(const char* symbol, Function* function) const {
    *function = reinterpret_cast<Function>(Address(symbol));
    return *function != nullptr;
  }

  const std::string& name() const { return name_; }

 private:
  DynamicLibrary(std::string name, void* handle)
      : name_(std::move(name)), handle_(handle) {}
  void* Address(const char* symbol) const;

  std::string name_;
  void* handle_;
};

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

#endif  // MUSTER_BASE_DYNAMIC_LIBRARY_H_
