// What the static hwloc asks of libudev, of which there is only a shared
// object: names of disks, which nobody needs here. Without it a binary that
// links hwloc needs no more libraries than one that does not. hwloc takes a
// null context for "no udev".

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

}  // extern "C"
