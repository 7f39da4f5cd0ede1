# The CUDA kernels: part of the library with LAPSUM_CUDA, else one file that stands in for them.
# AUTO takes CUDA where a compiler for it is found, except for the Python module.
set(LAPSUM_CUDA AUTO CACHE STRING "Build the CUDA kernels: ON, OFF or AUTO")
set_property(CACHE LAPSUM_CUDA PROPERTY STRINGS AUTO ON OFF)
option(LAPSUM_CUDA_RESOURCES "Keep what ptxas says; `resources` checks it against a budget" OFF)

set(LAPSUM_CUDA_SOURCES
  src/cuda/lap_kernel.cu
  src/cuda/lap_sum.cu
  src/cuda/lap_sum_inverse.cu
  src/cuda/log_soft_topk.cu
  src/cuda/soft_permutation.cu
  src/cuda/soft_permute.cu
  src/cuda/soft_rank.cu
  src/cuda/soft_sort.cu
  src/cuda/soft_topk.cu
  src/cuda/primitives/convert.cu
  src/cuda/primitives/decayed_scan.cu
  src/cuda/primitives/inverse.cu
  src/cuda/primitives/kernel_sums.cu
  src/cuda/primitives/levels.cu
  src/cuda/primitives/mask.cu
  src/cuda/primitives/mask_sums.cu
  src/cuda/primitives/permutation.cu
  src/cuda/primitives/permutation_form.cu
  src/cuda/primitives/permutation_tangent.cu
  src/cuda/primitives/points.cu
  src/cuda/primitives/row_factors.cu
  src/cuda/primitives/sort.cu
  src/cuda/primitives/sorted_rows.cu
  src/cuda/primitives/spread.cu
  src/cuda/primitives/sum_rows.cu
  src/cuda/primitives/threshold.cu)
list(TRANSFORM LAPSUM_CUDA_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)

set(LAPSUM_HAS_CUDA OFF)
if(LAPSUM_CUDA STREQUAL "AUTO" AND NOT LAPSUM_BUILD_PYTHON)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(LAPSUM_HAS_CUDA ON)
  endif()
elseif(NOT LAPSUM_CUDA STREQUAL "AUTO" AND LAPSUM_CUDA)
  set(LAPSUM_HAS_CUDA ON)
endif()

if(NOT LAPSUM_HAS_CUDA)
  target_sources(lapsum PRIVATE src/cuda/off.cpp)
  return()
endif()

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100)  # the last one as PTX too, for what follows
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 does not know it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)

# Objects, so that whoever links the library needs no CUDA compiler.
add_library(lapsum_cuda OBJECT ${LAPSUM_CUDA_SOURCES})
target_include_directories(lapsum_cuda PRIVATE include src)
# 554: a conversion to the same type is not called, which is so in every Rows<const T>.
target_compile_options(lapsum_cuda PRIVATE --expt-relaxed-constexpr -diag-suppress=554)
if(LAPSUM_WARNINGS_AS_ERRORS)
  target_compile_options(lapsum_cuda PRIVATE -Werror=all-warnings)
endif()
set_target_properties(lapsum_cuda PROPERTIES
  CUDA_STANDARD 20
  POSITION_INDEPENDENT_CODE ON
  CUDA_VISIBILITY_PRESET hidden)
target_sources(lapsum PRIVATE $<TARGET_OBJECTS:lapsum_cuda>)
target_link_libraries(lapsum PRIVATE CUDA::cudart_static)

if(LAPSUM_CUDA_RESOURCES)
  target_compile_options(lapsum_cuda PRIVATE -Xptxas=-v)
  set_target_properties(lapsum_cuda PROPERTIES
    CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/tests/cuda/keep_ptxas.sh)
  add_custom_target(resources
    COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/cuda/resources.py ${PROJECT_BINARY_DIR}
    DEPENDS lapsum_cuda VERBATIM)
endif()
