// A stub of libudev, so that programs that link hwloc statically need no
// further libraries. libudev exists only as a shared object, and hwloc uses it
// only for the names of disks. The stub returns a null context, which hwloc
// takes as "no udev".

extern "C" {

struct udev;
struct udev_device;

udev* udev_new() { return nullptr; }
udev* udev_unref(udev* /*context*/) { return nullptr; }
udev_device* udev_device_new_from_subsystem_sysname(udev* /*context*/,
                                                    const char* /*subsystem*/,
                                                    const char* /*name*/) {
  return nullptr;
}
udev_device* udev_device_unref(udev_device* /*device*/) { return nullptr; }
const char* udev_device_get_property_value(udev_device* /*device*/,
                                           const char* /*key*/) {
  return nullptr;
}
}
