"""The console script `rankscope`: becomes the program of this package."""

import os
import sys

from ._native import program_path


def main() -> None:
    program = program_path()
    try:
        os.execv(program, [program] + sys.argv[1:])
    except OSError as error:
        sys.exit(f"rankscope: {program}: {error.strerror}")


if __name__ == "__main__":
    main()
