// What a mask shows of an element at the distance z from a threshold.
#pragma once

namespace lapsum::gpu {

/// p = F(z), or log p.
enum class Curve { cdf, log_cdf };

}  // namespace lapsum::gpu
