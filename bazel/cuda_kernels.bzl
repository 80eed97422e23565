"""cuda_kernels: kernel sources for a GPU, and for tests on the CPU."""

load("//bazel:cuda.bzl", "cuda_library")

def cuda_kernels(name, srcs, hdrs, deps, emulation, visibility = None):
    """Compiles .cu sources twice, behind the same functions.

    NAME_cuda is what a program links that runs on a GPU. NAME_emulated is what
    a test links: the same sources as C++, with CUDA's execution model from the
    emulation; it needs no CUDA toolkit.

    Args:
      name: the beginning of both names.
      srcs: .cu files.
      hdrs: headers that only these sources include.
      deps: C++ libraries; the sources' public headers are in one of them.
      emulation: the library of CUDA's execution model.
      visibility: as everywhere.
    """
    cuda_library(
        name = name + "_cuda",
        srcs = srcs,
        hdrs = hdrs,
        # Libraries that use the kernels depend on the kernels' headers only, so the
        # linker may meet this one first.
        alwayslink = True,
        deps = deps,
        visibility = visibility,
    )
    package = native.package_name()
    as_cpp = []
    for source in srcs:
        as_cpp.append(source.replace(".cu", "_emulated.cc"))
        native.genrule(
            name = as_cpp[-1] + "_rule",
            srcs = [],
            outs = [as_cpp[-1]],
            cmd = "echo '#include \"%s/%s\"' >$@" % (package, source),
            visibility = ["//visibility:private"],
        )
    native.cc_library(
        name = name + "_emulated",
        testonly = True,
        srcs = as_cpp + hdrs,
        # The emulation runs millions of GPU threads one after the other, which is
        # too slow without optimisation.
        copts = ["-O2", "-Wall", "-Wextra", "-Werror"],
        textual_hdrs = srcs,
        alwayslink = True,
        deps = deps + [emulation],
        visibility = visibility,
    )
