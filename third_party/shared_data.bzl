"""@shared_data//:files: the data beside the checkout (../shared), or nothing where it is absent.

The link is to the directory's top entries, so Bazel tracks edits below them. A test that uses the
data depends on @shared_data//:files and skips visibly when the folder is missing.
"""

_BUILD = """
filegroup(
    name = "files",
    srcs = glob(["shared/**"], exclude = ["shared/**/* *"], allow_empty = True),
    visibility = ["//visibility:public"],
)
"""

def _shared_data_impl(ctx):
    shared = ctx.path(Label("//:WORKSPACE")).dirname.dirname.get_child("shared")
    if shared.exists:
        ctx.symlink(shared, "shared")
    ctx.file("BUILD", _BUILD)

shared_data = repository_rule(
    implementation = _shared_data_impl,
    local = True,
)
