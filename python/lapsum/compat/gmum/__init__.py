"""The functions of the authors' package (github.com/gmum/LapSum), by its modules and signatures.

`from lapsum.topk import soft_topk` there is `from lapsum.compat.gmum.topk import soft_topk` here,
and likewise `rank`, `sort` and `permute`. Values are the same where theirs are right; see each
function for what differs. Alpha is never written to.
"""

from .permute import cross_entropy
from .rank import soft_rank
from .sort import soft_sort
from .topk import log_soft_topk, soft_topk

__all__ = ["cross_entropy", "log_soft_topk", "soft_rank", "soft_sort", "soft_topk"]
