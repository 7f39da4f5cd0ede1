"""The operations in plain torch, for tensors on any device that torch has.

Sorts, scans in log2(n) steps and reductions: O(n log n) time and O(n) memory, nothing that depends
on values but the results, no wait for a device. Computed in float64 where the device has it. The
interface is that of kernels.py, which calls the compiled core instead.
"""

from __future__ import annotations

from .kernels import KERNELS, PortableKernel, distances, inverse, kernel_sum, mask_and_z

__all__ = ["KERNELS", "PortableKernel", "distances", "inverse", "kernel_sum", "mask_and_z"]
