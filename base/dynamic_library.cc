#include "base/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/subprocess.h"

namespace muster {
namespace {

// Returns the path of the file that contains this code: the program, or the
// SDK's shared library.
std::string OwnFile() {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&LoadPluginFile), &info,
              reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 &&
      map != nullptr && map->l_name[0] != '\0') {
    return map->l_name;
  }
  return OwnProgram();  // the main program's name in its link_map is ""
}

// Returns the folder of the program or shared library into which this function
// is linked.
std::string OwnFolder() {
  const std::string own = OwnFile();
  return own.substr(0, own.rfind('/'));
}

}  // namespace

absl::StatusOr<DynamicLibrary> DynamicLibrary::Load(const std::string& name) {
  // If the process has already loaded a library of this name, such as PyTorch's
  // NCCL, dlopen returns that copy. A second copy in the process would conflict
  // with the first.
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return absl::NotFoundError(absl::StrCat(
        name, " cannot be loaded: ", why == nullptr ? "no reason given" : why));
  }
  return DynamicLibrary(name, handle);
}

void* DynamicLibrary::Address(const char* symbol) const {
  return dlsym(handle_, symbol);
}

std::string FindPluginFile(const PluginName& plugin) {
  const std::string folder = OwnFolder();
  for (const std::string& place :
       {absl::StrCat(folder, "/", plugin.file),
        absl::StrCat(folder, "/../lib/", plugin.file),
        absl::StrCat(OwnProgram(), ".runfiles/muster/", plugin.folder, "/",
                     plugin.file)}) {
    if (access(place.c_str(), F_OK) == 0) return place;
  }
  return "";
}

absl::StatusOr<DynamicLibrary> LoadPluginFile(const PluginName& plugin) {
  const std::string folder = OwnFolder();
  std::string path = FindPluginFile(plugin);
  if (path.empty()) path = plugin.file;
  absl::StatusOr<DynamicLibrary> file = DynamicLibrary::Load(path);
  if (!file.ok() && path != plugin.file) {
    return absl::NotFoundError(absl::StrCat(plugin.user, ": ",
                                            file.status().message(), "; ",
                                            plugin.if_not_loaded));
  }
  if (!file.ok()) {
    return absl::NotFoundError(absl::StrCat(
        plugin.user, " needs ", plugin.file, ", which is neither in ", folder,
        " nor in ", folder,
        "/../lib nor where the dynamic linker looks (LD_LIBRARY_PATH): ",
        file.status().message(), "; ", plugin.if_missing));
  }
  return file;
}

absl::Status OtherPluginVersion(const PluginName& plugin,
                                const DynamicLibrary& file) {
  return absl::FailedPreconditionError(
      absl::StrCat(plugin.user, ": ", file.name(),
                   " belongs to another version of Muster; install the one of "
                   "this version"));
}

}  // namespace muster
