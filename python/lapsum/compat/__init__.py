"""Other packages' functions by their own signatures, served by lapsum: to migrate by an import.

`lapsum.compat.torchsort` stands in for torchsort, `lapsum.compat.gmum` for the package of the
paper's authors. Nothing is imported until one of them is.
"""
