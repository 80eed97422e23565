"""fuzzer_test: a libFuzzer program built from the sources of its deps.

libFuzzer comes with clang, but all other targets are built by g++. So an aspect
visits all cc_library targets that the deps need and compiles each source once
more, with clang, the fuzzer's coverage, AddressSanitizer and UBSan. A fuzzer
has the same sources and link options as other programs; no second list of them
is needed.
"""

_CLANG = "/usr/bin/clang++"
_SANITIZE = [
    "-fsanitize=fuzzer,address,undefined",
    "-fno-sanitize-recover=undefined",
]
_ENDINGS = ["cc", "c", "cpp"]

# The field `objects`: a depset of the object files of the target and of its
# deps.
FuzzedObjects = provider(fields = ["objects"])

def _fuzzed_objects_impl(target, ctx):
    deps = getattr(ctx.rule.attr, "deps", [])
    below = [dep[FuzzedObjects].objects for dep in deps if FuzzedObjects in dep]
    if CcInfo not in target or not hasattr(ctx.rule.files, "srcs"):
        return [FuzzedObjects(objects = depset(transitive = below))]
    compilation = target[CcInfo].compilation_context
    headers = [
        source
        for source in ctx.rule.files.srcs
        if source.extension not in _ENDINGS
    ]
    # Do not optimise by default: a test runs the fuzzer for only one second,
    # and optimised compilation would take longer than that. For longer
    # searches, build with --config=opt.
    level = "-O1" if ctx.var["COMPILATION_MODE"] == "opt" else "-O0"
    objects = []
    for source in ctx.rule.files.srcs:
        if source.extension not in _ENDINGS:
            continue
        object = ctx.actions.declare_file(
            "_fuzzed/%s/%s.o" % (target.label.name, source.basename),
        )
        objects.append(object)
        arguments = ctx.actions.args()
        arguments.add_all(_SANITIZE + ["-std=c++20", level, "-g1"])
        arguments.add_all(ctx.rule.attr.copts)
        arguments.add_all(compilation.defines, before_each = "-D")
        arguments.add_all(compilation.local_defines, before_each = "-D")
        arguments.add_all(compilation.quote_includes, before_each = "-iquote")
        arguments.add_all(compilation.includes, before_each = "-I")
        arguments.add_all(compilation.system_includes, before_each = "-isystem")
        arguments.add("-c", source)
        arguments.add("-o", object)
        ctx.actions.run(
            executable = _CLANG,
            arguments = [arguments],
            inputs = depset(
                [source] + headers,
                transitive = [compilation.headers],
            ),
            outputs = [object],
            mnemonic = "FuzzedCompile",
            use_default_shell_env = True,
        )
    return [FuzzedObjects(objects = depset(objects, transitive = below))]

_fuzzed_objects = aspect(
    implementation = _fuzzed_objects_impl,
    attr_aspects = ["deps"],
)

def _fuzzer_test_impl(ctx):
    objects = depset(
        transitive = [dep[FuzzedObjects].objects for dep in ctx.attr.deps],
    )
    program = ctx.actions.declare_file(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all(_SANITIZE)
    arguments.add_all(objects)
    for dep in ctx.attr.deps:
        for input in dep[CcInfo].linking_context.linker_inputs.to_list():
            arguments.add_all(input.user_link_flags)
    arguments.add("-o", program)
    ctx.actions.run(
        executable = _CLANG,
        arguments = [arguments],
        inputs = objects,
        outputs = [program],
        mnemonic = "FuzzerLink",
        use_default_shell_env = True,
    )
    return [DefaultInfo(executable = program)]

fuzzer_test = rule(
    implementation = _fuzzer_test_impl,
    attrs = {"deps": attr.label_list(
        aspects = [_fuzzed_objects],
        providers = [CcInfo],
    )},
    test = True,
)
