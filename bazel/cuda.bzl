"""cuda_library: CUDA C++ sources as a library that C++ targets depend on.

If no CUDA toolkit is found, the target is incompatible: `bazel build //...`
skips the target, and tests that need it are reported as skipped.
"""

load("@cuda_toolkit//:defs.bzl", "CUDA_FOUND", "CUDA_ROOT")

# The library contains machine code for Hopper, and PTX code, which the driver
# compiles for later GPUs.
_ARCHITECTURES = ["-gencode=arch=compute_90,code=[sm_90,compute_90]"]

# The target_compatible_with of targets that depend on a cuda_library: without a
# CUDA toolkit, Bazel skips these targets.
CUDA_COMPATIBLE = [] if CUDA_FOUND else ["@platforms//:incompatible"]

def _cuda_library_impl(ctx):
    headers = depset(ctx.files.hdrs, transitive = [
        dep[CcInfo].compilation_context.headers
        for dep in ctx.attr.deps
    ])
    objects = []
    for source in ctx.files.srcs:
        object = ctx.actions.declare_file(
            "_cuda/%s/%s.o" % (ctx.label.name, source.basename),
        )
        objects.append(object)
        ctx.actions.run(
            executable = CUDA_ROOT + "/bin/nvcc",
            arguments = _ARCHITECTURES + [
                "-std=c++20",
                "-O3",
                "-Xcompiler=-fPIC,-Wall,-Werror",
                "-Werror=all-warnings",
                "-I.",
                "-I" + ctx.bin_dir.path,
                "-c",
                source.path,
                "-o",
                object.path,
            ],
            inputs = depset([source], transitive = [headers]),
            outputs = [object],
            mnemonic = "CudaCompile",
            use_default_shell_env = True,
        )
    archive = ctx.actions.declare_file("lib%s.a" % ctx.label.name)
    ctx.actions.run(
        executable = "/usr/bin/ar",
        arguments = ["rcsD", archive.path] + [o.path for o in objects],
        inputs = objects,
        outputs = [archive],
        mnemonic = "CudaArchive",
    )
    toolchain = ctx.attr._cc_toolchain[cc_common.CcToolchainInfo]
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
    )
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        libraries = depset([cc_common.create_library_to_link(
            actions = ctx.actions,
            feature_configuration = features,
            cc_toolchain = toolchain,
            static_library = archive,
            alwayslink = ctx.attr.alwayslink,
        )]),
    )
    own = CcInfo(
        compilation_context = cc_common.create_compilation_context(
            headers = depset(ctx.files.hdrs),
        ),
        linking_context = cc_common.create_linking_context(
            linker_inputs = depset([linker_input]),
        ),
    )
    return [
        DefaultInfo(files = depset([archive])),
        cc_common.merge_cc_infos(
            direct_cc_infos = [own],
            cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
        ),
    ]

_cuda_library = rule(
    implementation = _cuda_library_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"]),
        "hdrs": attr.label_list(allow_files = [".h", ".cuh"]),
        "deps": attr.label_list(providers = [CcInfo]),
        "alwayslink": attr.bool(),
        "_cc_toolchain": attr.label(
            default = "@bazel_tools//tools/cpp:current_cc_toolchain",
        ),
    },
    fragments = ["cpp"],
)

def cuda_library(
        name,
        srcs,
        hdrs = [],
        deps = [],
        alwayslink = False,
        visibility = None):
    """Compiles .cu sources with nvcc into one library.

    Args:
      name: the library's name.
      srcs: .cu files.
      hdrs: headers that C++ and CUDA sources include.
      deps: C++ or CUDA libraries.
      alwayslink: as in cc_library.
      visibility: as in any rule.
    """
    _cuda_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        deps = deps + ["@cuda_toolkit//:runtime"],
        alwayslink = alwayslink,
        target_compatible_with = CUDA_COMPATIBLE,
        visibility = visibility,
    )
