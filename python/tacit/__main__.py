"""`python -m tacit …` is the command line."""
from ._program import main

main()
