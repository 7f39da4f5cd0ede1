# What the library is built with: OpenMP, Highway (the system's, else fetched and installed along),
# and the compiler options that every target of this project shares.
find_package(OpenMP REQUIRED COMPONENTS CXX)

find_package(hwy 1.0.3 QUIET CONFIG)
if(NOT hwy_FOUND)
  message(STATUS "Highway is not installed: fetching it")
  include(FetchContent)
  set(HWY_ENABLE_TESTS OFF CACHE INTERNAL "")
  set(HWY_ENABLE_EXAMPLES OFF CACHE INTERNAL "")
  set(HWY_FORCE_STATIC_LIBS ON CACHE INTERNAL "")
  FetchContent_Declare(hwy
    URL https://github.com/google/highway/archive/refs/tags/1.2.0.tar.gz)
  FetchContent_MakeAvailable(hwy)
endif()
add_library(lapsum_hwy INTERFACE)
target_link_libraries(lapsum_hwy INTERFACE $<IF:$<TARGET_EXISTS:hwy::hwy>,hwy::hwy_contrib,hwy_contrib>
                                           $<IF:$<TARGET_EXISTS:hwy::hwy>,hwy::hwy,hwy>)

add_library(lapsum_options INTERFACE)
target_compile_options(lapsum_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow=local)
if(LAPSUM_WARNINGS_AS_ERRORS)
  target_compile_options(lapsum_options INTERFACE -Werror)
endif()
if(LAPSUM_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=address,undefined)
endif()
