"""precompiled_header: a header that g++ compiles once for many sources.

A source that depends on the target uses the compiled header if the option
`-include bazel/precompiled/NAME` is the first thing that the compiler reads,
and if both are compiled with the same options. Otherwise g++ reads the text.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )

    # g++ looks for NAME.gch beside NAME, so the text is copied to the folder of
    # the compiled header.
    name = "precompiled/" + ctx.file.header.basename
    text = ctx.actions.declare_file(name)
    ctx.actions.symlink(output = text, target_file = ctx.file.header)
    compiled = ctx.actions.declare_file(name + ".gch")
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = text.path,
        output_file = compiled.path,
        user_compile_flags = ctx.fragments.cpp.copts +
                             ctx.fragments.cpp.cxxopts,
        use_pic = True,
    )
    options = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = "c++-compile",
        variables = variables,
    )
    ctx.actions.run(
        executable = toolchain.compiler_executable,
        arguments = ["-x", "c++-header"] + options,
        inputs = depset([text], transitive = [toolchain.all_files]),
        outputs = [compiled],
        mnemonic = "PrecompileHeader",
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset([compiled])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([text, compiled]),
        )),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "_cc_toolchain": attr.label(
            default = "@bazel_tools//tools/cpp:current_cc_toolchain",
        ),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
