#!/usr/bin/python3
"""Runs one case of a folder with torch_peers.py, in the environment that suits PyTorch best.

Usage: run_peer.py --peers DIR --cache DIR CASE ...      e.g. llama --mode lora --dtype bf16 --ckpt
       run_peer.py --peers DIR --cache DIR machine       peak FMA rate, memory bandwidth, page cost
One JSON line on standard output; on failure an "error" in it and exit code 1.

The environment: no OPENBLAS_CORETYPE or OPENBLAS_L2_SIZE, so that OpenBLAS picks its kernels
itself; the OpenMP build of OpenBLAS, which shares PyTorch's threads (fetched once into the cache
folder by apt-get download); malloc on huge pages that never gives memory back.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

OPENBLAS = "usr/lib/x86_64-linux-gnu/openblas-openmp"
TUNABLES = ("glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:"
            "glibc.malloc.trim_threshold=100000000000:glibc.malloc.top_pad=268435456")


def run(command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, **keywords)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} exited {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def openblas_folder(cache):
    """The folder of the OpenMP OpenBLAS, fetched and unpacked if it is not there yet."""
    folder = os.path.join(cache, OPENBLAS)
    if not os.path.exists(os.path.join(folder, "libblas.so.3")):
        os.makedirs(cache, exist_ok=True)
        run(["apt-get", "download", "libopenblas0-openmp"], cwd=cache)
        package = sorted(glob.glob(os.path.join(cache, "libopenblas0-openmp_*.deb")))[-1]
        run(["dpkg", "-x", package, cache])
    return folder


def tuned_environment(cache):
    environment = dict(os.environ)
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LD_PRELOAD"):
        environment.pop(name, None)
    environment["LD_LIBRARY_PATH"] = openblas_folder(cache)
    environment["GLIBC_TUNABLES"] = TUNABLES
    return environment


def peer(options):
    script = os.path.join(options.peers, "torch_peers.py")
    out = run(["/usr/bin/python3", script, *options.case], env=tuned_environment(options.cache))
    return dict(config="tuned", **json.loads(out))


def machine(options):
    """What noise.c, stream.c and fault.c print, as numbers."""
    text = {}
    for name in ("noise", "stream", "fault"):
        binary = os.path.join(options.cache, name)
        os.makedirs(options.cache, exist_ok=True)
        run(["gcc", "-O3", "-march=native", "-fopenmp", "-w",
             os.path.join(options.peers, name + ".c"), "-o", binary])
        text[name] = run([binary])

    def largest(name, pattern):
        return max(float(value) for value in re.findall(pattern, text[name], re.M))

    return dict(case="machine", threads=os.cpu_count(),
                fma_gflops=largest("noise", r"max (\d+)"),
                fma_gflops_mean=largest("noise", r"mean (\d+)"),
                triad_gb_s=largest("stream", r"triad ([\d.]+)"),
                read_gb_s=largest("stream", r"read-sum ([\d.]+)"),
                first_touch_gb_s=largest("fault", r"^4K .*?([\d.]+) GB/s"),
                first_touch_huge_gb_s=largest("fault", r"^THP .*?([\d.]+) GB/s"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", required=True, help="folder of torch_peers.py, noise.c, ...")
    parser.add_argument("--cache", required=True, help="writable folder for fetched libraries")
    parser.add_argument("case", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.cache = os.path.abspath(options.cache)
    if not options.case:
        parser.error("no case given, e.g. llama --mode lora --dtype bf16")
    try:
        result = machine(options) if options.case == ["machine"] else peer(options)
    except (RuntimeError, OSError, ValueError) as error:
        print(json.dumps(dict(case=" ".join(options.case), error=str(error))))
        sys.exit(1)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
