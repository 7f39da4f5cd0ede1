"""What every kernel takes of a multiprocessor, by ptxas, against the budget in resources.csv.

    resources.py BUILD            print the table; fail on spills, growth, or a kernel not listed
    resources.py BUILD --update   write the budget, and the table of docs/cuda.md, anew
    resources.py --docs           fail if the table of docs/cuda.md is not that of the budget

BUILD holds the .ptxas files that keep_ptxas.sh left. A kernel for several types of elements is
listed once, with the most that any of them takes. Registers count as the hardware gives them out.
"""

import argparse
import csv
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUDGET = ROOT / "tests/cuda/resources.csv"
DOCS = ROOT / "docs/cuda.md"
BEGIN, END = "<!-- resources.py writes this table -->\n", "<!-- end of the table -->\n"
# What a multiprocessor has: by architecture the shared memory, and of each block 1 kB is taken.
SHARED = {"80": 164 * 1024, "90": 228 * 1024, "100": 228 * 1024}
REGISTERS, WARPS, BLOCKS, GRAIN, TAKEN = 65536, 64, 32, 8, 1024


@dataclass
class Use:
    """What a kernel takes: threads of a block, shared memory, registers by architecture."""

    threads: int = 0
    shared: int = 0
    registers: dict[str, int] = field(default_factory=dict)
    spills: int = 0

    def occupancy(self) -> float:
        """The share of a multiprocessor's warps that can be there at once: the least of all."""
        if self.threads == 0:
            return 0
        warps = self.threads // 32
        return min(
            min(
                REGISTERS // (registers * 32 * warps),
                SHARED[architecture] // (self.shared + TAKEN),
                WARPS // warps,
                BLOCKS,
            )
            * warps
            / WARPS
            for architecture, registers in self.registers.items()
        )


def names(mangled: list[str]) -> list[str]:
    """Kernel names for people: no namespaces, no parameters, no types of elements."""
    text = subprocess.run(
        ["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True
    ).stdout
    out = []
    for name in text.splitlines():
        short = re.sub(r"lapsum::(gpu::|cuda::)?|\(anonymous namespace\)::|^void ", "", name)
        short = re.sub(r"\(\w+\)(?=[-\d])", "", _without_parameters(short))  # casts of numbers
        short = re.sub(r"\b(float|double|Half|Bfloat16)\b(, )?", "", short)
        out.append(re.sub(r"<\s*>", "", short.replace(" >", ">").replace(", >", ">")).strip())
    return out


def _without_parameters(name: str) -> str:
    """Cut the argument list, which begins with the first parenthesis outside of <>."""
    depth = 0
    for i, c in enumerate(name):
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0:
            return name[:i]
    return name


def measured(build: Path) -> dict[str, Use]:
    """The kernels of this library (not those of CUB) in the records of a build."""
    uses: dict[str, Use] = {}
    folder = build / "CMakeFiles/lapsum_cuda.dir"
    for record in sorted(folder.rglob("*.cu.o.ptxas")):
        if not (ROOT / str(record.relative_to(folder)).removesuffix(".o.ptxas")).exists():
            continue  # of a source that is gone
        mangled, architectures, found = [], [], []
        for line in record.read_text().splitlines():
            if entry := re.search(r"Compiling entry function '(\w+)' for 'sm_(\d+)'", line):
                mangled.append(entry[1])
                architectures.append(entry[2])
                found.append([0, 0, 0])
            elif local := re.search(r"(\d+) bytes stack frame, (\d+) .*, (\d+) bytes spill", line):
                found[-1][0] += sum(map(int, local.groups()))
            elif used := re.search(r"Used (\d+) registers", line):
                found[-1][1] = -(-int(used[1]) // GRAIN) * GRAIN
                shared = re.search(r"(\d+) bytes smem", line)
                found[-1][2] = int(shared[1]) if shared else 0
        for name, architecture, (local_bytes, registers, shared_bytes) in zip(
            names(mangled), architectures, found, strict=True
        ):
            if "cub::" in name:
                continue
            use = uses.setdefault(name, Use())
            use.spills = max(use.spills, local_bytes)
            use.shared = max(use.shared, shared_bytes)
            use.registers[architecture] = max(use.registers.get(architecture, 0), registers)
    return uses


def budget() -> dict[str, Use]:
    """The recorded budget."""
    if not BUDGET.exists():
        return {}
    with BUDGET.open() as file:
        return {
            row["kernel"]: Use(
                int(row["threads"]),
                int(row["shared"]),
                {architecture: int(row["sm_" + architecture]) for architecture in SHARED},
            )
            for row in csv.DictReader(file)
        }


def complaints(uses: dict[str, Use], allowed: dict[str, Use]) -> list[str]:
    """What is wrong, a line each."""
    out = [
        f"{name}: {use.spills} bytes of local memory" for name, use in uses.items() if use.spills
    ]
    for name in sorted(uses.keys() ^ allowed.keys()):
        out.append(f"{name}: " + ("not in the budget" if name in uses else "is gone"))
    out += [f"{name}: no threads in the budget" for name, use in allowed.items() if not use.threads]
    for name in sorted(uses.keys() & allowed.keys()):
        now, most = uses[name], allowed[name]
        for architecture, registers in now.registers.items():
            if registers > most.registers[architecture]:
                out.append(
                    f"{name}: {registers} registers for sm_{architecture}, "
                    f"the budget is {most.registers[architecture]}"
                )
        if now.shared > most.shared:
            out.append(f"{name}: {now.shared} bytes shared, the budget is {most.shared}")
    return out


def report(uses: dict[str, Use]) -> None:
    """Print what was measured."""
    architectures = [a for a in SHARED if any(a in use.registers for use in uses.values())]
    heads = "".join(f"{'sm_' + a:>7}" for a in architectures)
    print(f"registers:{heads}  shared  spills  occupancy  threads  kernel")
    for name, use in sorted(uses.items()):
        registers = "".join(f"{use.registers.get(a, 0):7}" for a in architectures)
        print(
            f"          {registers} {use.shared:7} {use.spills:7} {use.occupancy():10.0%} "
            f"{use.threads:8}  {name}"
        )


def table(uses: dict[str, Use]) -> str:
    """The table of the documentation; the kernels of for_each.h that are alike share a line."""
    lines: dict[str, list[str]] = {}
    for name, use in sorted(uses.items()):
        registers = " / ".join(str(use.registers[a]) for a in SHARED)
        each = re.fullmatch(r"each_kernel<(.*)>", name)
        line = f"{use.threads} | {registers} | {use.shared} | {use.occupancy():.0%} |"
        lines.setdefault(("each " if each else name) + line, []).append(each[1] if each else name)
    out = ["| kernel | threads | registers | shared | occupancy |", "|---|---|---|---|---|"]
    for key, kernels in lines.items():
        cell = ", ".join(f"`{kernel}`" for kernel in kernels)
        if key.startswith("each "):
            out.append(f"| `each_kernel` of {cell} | {key.removeprefix('each ')}")
        else:
            out.append(f"| {cell} | {key.removeprefix(kernels[0])}")
    return "\n".join(out) + "\n"


def documented(uses: dict[str, Use]) -> str:
    """The documentation with its table as it should be."""
    before, rest = DOCS.read_text().split(BEGIN)
    return before + BEGIN + "\n" + table(uses) + "\n" + END + rest.split(END)[1]


def update(uses: dict[str, Use]) -> None:
    """Write the budget and the table."""
    with BUDGET.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kernel", "threads", "shared", *("sm_" + a for a in SHARED)])
        for name, use in sorted(uses.items()):
            writer.writerow([name, use.threads, use.shared, *(use.registers[a] for a in SHARED)])
    DOCS.write_text(documented(uses))


def main() -> int:
    """Print and check, or renew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, nargs="?")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--docs", action="store_true")
    arguments = parser.parse_args()
    allowed = budget()
    if arguments.docs:
        if DOCS.read_text() == documented(allowed):
            return 0
        print("the table of docs/cuda.md is not that of resources.csv", file=sys.stderr)
        return 1
    uses = measured(arguments.build) if arguments.build else {}
    if not uses:
        print(f"no records of ptxas under {arguments.build}", file=sys.stderr)
        return 1
    for name, use in uses.items():
        # ptxas does not tell the threads: those of a new kernel are to be filled in by hand.
        use.threads = allowed[name].threads if name in allowed else 0
    report(uses)
    if arguments.update:
        update(uses)
        return 0
    wrong = complaints(uses, allowed)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
