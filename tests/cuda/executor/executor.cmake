# Kernels that run on the CPU: the executor, and what turns .cu files into C++ for it.
set(EXECUTOR ${CMAKE_CURRENT_LIST_DIR})

add_library(executor STATIC
  ${EXECUTOR}/src/fault.cpp
  ${EXECUTOR}/src/fiber.cpp
  ${EXECUTOR}/src/grid.cpp
  ${EXECUTOR}/src/host.cpp
  ${EXECUTOR}/src/shared_memory.cpp
  ${EXECUTOR}/src/switch_stack.cpp
  ${EXECUTOR}/src/turns.cpp
  ${EXECUTOR}/src/warp.cpp)
target_include_directories(executor PUBLIC ${EXECUTOR}/include PRIVATE ${EXECUTOR}/src)
target_compile_definitions(executor INTERFACE __CUDACC__)
target_compile_options(executor INTERFACE -Wno-unknown-pragmas)
target_link_libraries(executor PRIVATE lapsum_options)
if(LAPSUM_SANITIZE STREQUAL thread)
  # The kernels are watched; what the executor does for them is not their doing.
  target_compile_options(executor PRIVATE -fno-sanitize=thread)
  target_compile_definitions(executor PRIVATE EXECUTOR_RACES)
endif()

# executor_kernels(<target> <root> <files>...): translates the files, given relative to <root>, and
# compiles the .cu files among them into the target; <root> is on the include path.
function(executor_kernels target root)
  set(translated ${CMAKE_CURRENT_BINARY_DIR}/${target}.translated)
  foreach(file IN LISTS ARGN)
    set(result ${translated}/${file})
    if(file MATCHES "\\.cu$")
      string(APPEND result .cpp)
    endif()
    get_filename_component(folder ${result} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${result}
      COMMAND sed -zE -f ${EXECUTOR}/translate.sed -e "1s|^|#line 1 \"${root}/${file}\"\\n|"
              ${root}/${file} > ${result}
      DEPENDS ${root}/${file} ${EXECUTOR}/translate.sed VERBATIM)
    target_sources(${target} PRIVATE ${result})
  endforeach()
  target_include_directories(${target} PRIVATE ${translated} ${root})
  target_link_libraries(${target} PRIVATE executor)
endfunction()

# ThreadSanitizer of older compilers does not start where the kernel spreads addresses widely, so its
# tests run without that, if the machine allows it.
function(executor_discover_tests target)
  if(LAPSUM_SANITIZE STREQUAL thread)
    execute_process(COMMAND setarch -R true RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      set_target_properties(${target} PROPERTIES CROSSCOMPILING_EMULATOR "setarch;-R")
    endif()
  endif()
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()
