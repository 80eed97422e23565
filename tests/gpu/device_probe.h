#ifndef MUSTER_TESTS_GPU_DEVICE_PROBE_H_
#define MUSTER_TESTS_GPU_DEVICE_PROBE_H_

#include <string>
#include <vector>

namespace muster {

// CUDA devices of this machine; 0 where there is no driver.
int DeviceCount();

// Doubles each element on device 0. The error's text; empty if all went well.
std::string DoubleOnDevice(std::vector<float>& values);

}  // namespace muster

#endif  // MUSTER_TESTS_GPU_DEVICE_PROBE_H_
