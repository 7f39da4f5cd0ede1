"""`python -m lapsum doctor` checks an installation, `python -m lapsum demo` shows what it does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lapsum._cli import demo, doctor


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lapsum", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("doctor", help="versions, front ends, devices, and a self-check")
    shown = commands.add_parser("demo", help="one short row, ordered hard and softly")
    picture = Path("lapsum_demo.png")
    shown.add_argument("--out", type=Path, default=picture, help=f"the picture, {picture}")
    chosen = parser.parse_args(arguments)
    return doctor.run() if chosen.command == "doctor" else demo.run(chosen.out)


if __name__ == "__main__":
    sys.exit(main())
