"""sdk_library: many libraries as one archive, one shared object, and headers.

What tools/install puts at its place. Of the libraries below `deps` everything
of this workspace goes in; what they link from the system stays outside.
"""

def _archives(ctx):
    found = []
    for dep in ctx.attr.deps:
        for input in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in input.libraries:
                # The objects go into the shared library, too, so prefer
                # position-independent ones.
                archive = library.pic_static_library or library.static_library
                if archive:
                    found.append(archive)
    return depset(found).to_list()

def _sdk_library_impl(ctx):
    archives = _archives(ctx)
    archive = ctx.actions.declare_file("lib%s.a" % ctx.label.name)
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
    ctx.actions.write(script, "\n".join(
        ["create " + archive.path] +
        ["addlib " + each.path for each in archives] +
        ["save", "end", ""],
    ))
    ctx.actions.run_shell(
        # Object files from different folders may have equal names. ar keeps all
        # of them only if its input is an MRI script. The second command
        # (ranlib) clears their timestamps, so that builds are reproducible.
        command = "/usr/bin/ar -M <$1 && /usr/bin/ranlib -D $2",
        arguments = [script.path, archive.path],
        inputs = archives + [script],
        outputs = [archive],
        mnemonic = "SdkArchive",
    )

    shared = ctx.actions.declare_file(
        "lib%s.so.%s" % (ctx.label.name, ctx.attr.version),
    )
    ctx.actions.run_shell(
        command = "/usr/bin/g++ \"$@\"",
        arguments = [
            "-shared",
            "-o",
            shared.path,
            "-Wl,-soname,lib%s.so.%s" % (ctx.label.name, ctx.attr.abi),
            "-Wl,--version-script," + ctx.file.exports.path,
            # Fail on undefined symbols, and link only the libraries that are
            # needed.
            "-Wl,-z,defs",
            "-Wl,--as-needed",
            "-Wl,--whole-archive",
            archive.path,
            "-Wl,--no-whole-archive",
        ] + ctx.attr.linkopts +
            # In builds with a sanitizer, these options link the sanitizer's
            # run-time library.
            ctx.fragments.cpp.linkopts,
        inputs = [archive, ctx.file.exports],
        outputs = [shared],
        mnemonic = "SdkShared",
        use_default_shell_env = True,
    )

    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    seeds = depset([
        header.path
        for context in contexts
        for header in context.direct_public_headers
    ])
    headers = depset(transitive = [context.headers for context in contexts])
    copy_headers = ctx.file._copy_headers
    include = ctx.actions.declare_directory("include")
    ctx.actions.run(
        executable = "/usr/bin/python3",
        arguments = [copy_headers.path, include.path] + seeds.to_list(),
        inputs = depset([copy_headers], transitive = [headers]),
        outputs = [include],
        mnemonic = "SdkHeaders",
        use_default_shell_env = True,
    )
    files = [archive, shared, include]
    return [DefaultInfo(
        files = depset(files),
        runfiles = ctx.runfiles(files = files),
    )]

sdk_library = rule(
    implementation = _sdk_library_impl,
    attrs = {
        "deps": attr.label_list(
            providers = [CcInfo],
            doc = "What users may include.",
        ),
        "version": attr.string(mandatory = True),
        "abi": attr.string(
            mandatory = True,
            doc = "Of the soname: what programs stay linkable with.",
        ),
        "exports": attr.label(
            allow_single_file = True,
            doc = "The linker's version script.",
        ),
        "linkopts": attr.string_list(
            doc = "The system's libraries, for the shared object.",
        ),
        "_copy_headers": attr.label(
            default = "//trainer_sdk/library:copy_headers.py",
            allow_single_file = True,
        ),
    },
    fragments = ["cpp"],
)
