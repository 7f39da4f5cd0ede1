// Which of the compiled instruction sets this machine uses.
#pragma once

namespace lapsum {

/// The name of the instruction set that the library's vector code runs with here, as Highway calls
/// it: AVX2, AVX3 (AVX-512), NEON, ...
const char* simd_target();

}  // namespace lapsum
