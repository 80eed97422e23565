#ifndef MUSTER_TESTS_GPU_DEVICE_PROBE_H_
#define MUSTER_TESTS_GPU_DEVICE_PROBE_H_

#include <string>
#include <vector>

namespace muster {

// The number of CUDA devices of this machine; 0 without a driver.
int DeviceCount();

// Doubles each element on device 0. Returns the error's text, "" for success.
std::string DoubleOnDevice(std::vector<float>& values);

}  // namespace muster

#endif  // MUSTER_TESTS_GPU_DEVICE_PROBE_H_
