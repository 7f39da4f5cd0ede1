# Kernels that run on the CPU: the executor, and tests that are built with it in three variants:
# plain, under AddressSanitizer with UndefinedBehaviorSanitizer, and under ThreadSanitizer.
set(EXECUTOR ${CMAKE_CURRENT_LIST_DIR})
set(EXECUTOR_OPTIONS_plain -O1)
set(EXECUTOR_OPTIONS_address -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
                             -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS)
set(EXECUTOR_OPTIONS_thread -O1 -g1 -fsanitize=thread)
set(EXECUTOR_LINK_address -fsanitize=address,undefined)
set(EXECUTOR_LINK_thread -fsanitize=thread)

foreach(variant plain address thread)
  add_library(executor_${variant} STATIC
    ${EXECUTOR}/src/fault.cpp
    ${EXECUTOR}/src/fiber.cpp
    ${EXECUTOR}/src/grid.cpp
    ${EXECUTOR}/src/host.cpp
    ${EXECUTOR}/src/shared_memory.cpp
    ${EXECUTOR}/src/switch_stack.cpp
    ${EXECUTOR}/src/turns.cpp
    ${EXECUTOR}/src/warp.cpp)
  target_include_directories(executor_${variant} PUBLIC ${EXECUTOR}/include PRIVATE ${EXECUTOR}/src)
  target_compile_definitions(executor_${variant} INTERFACE __CUDACC__)
  target_compile_options(executor_${variant} PUBLIC ${EXECUTOR_OPTIONS_${variant}}
                                             INTERFACE -Wno-unknown-pragmas)
  target_link_options(executor_${variant} PUBLIC ${EXECUTOR_LINK_${variant}})
  target_link_libraries(executor_${variant} PRIVATE lapsum_options)
  set_target_properties(executor_${variant} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endforeach()
# The kernels are watched; what the executor does for them is not their doing.
target_compile_options(executor_thread PRIVATE -fno-sanitize=thread)
target_compile_definitions(executor_thread PRIVATE EXECUTOR_RACES)

# ThreadSanitizer of older compilers does not start where addresses are spread widely, so its tests
# run without that, if the machine allows it.
execute_process(COMMAND setarch -R true RESULT_VARIABLE setarch OUTPUT_QUIET ERROR_QUIET)
if(setarch EQUAL 0)
  set(EXECUTOR_RUNS_thread setarch -R)
endif()

add_custom_target(kernel_tests)

# translate_kernels(<name> <root> <result> <.cu files relative to root>...)
# puts the kernels, and the headers next to them, with their __shared__ variables translated, into
# the folder <name> of the build and lists them in <result>; <name>_translated makes them.
function(translate_kernels name root result)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(files ${ARGN})
  foreach(kernel IN LISTS ARGN)
    get_filename_component(beside ${root}/${kernel} DIRECTORY)
    file(GLOB headers RELATIVE ${root} CONFIGURE_DEPENDS ${beside}/*.h ${beside}/*.cuh)
    list(APPEND files ${headers})
  endforeach()
  list(REMOVE_DUPLICATES files)
  set(translated)
  foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.cu$" ".cu.cpp" to ${folder}/${file})
    get_filename_component(parent ${to} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    add_custom_command(OUTPUT ${to}
      COMMAND sed -zE -f ${EXECUTOR}/translate.sed -e "1s|^|#line 1 \"${root}/${file}\"\\n|"
              ${root}/${file} > ${to}
      DEPENDS ${root}/${file} ${EXECUTOR}/translate.sed VERBATIM)
    list(APPEND translated ${to})
  endforeach()
  add_custom_target(${name}_translated DEPENDS ${translated})
  set(${result} ${translated} PARENT_SCOPE)
endfunction()

# kernel_tests(<name> ROOT <folder> KERNELS <.cu files relative to it>... [SOURCES <.cpp files>...]
#              [LIBRARIES <targets>...] [VARIANTS <plain, address, thread>...])
# builds <name>_<variant> of GoogleTests for each variant, all by default. ROOT is on the include
# path, after the translated headers.
function(kernel_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ROOT" "KERNELS;SOURCES;LIBRARIES;VARIANTS")
  if(NOT arg_VARIANTS)
    set(arg_VARIANTS plain address thread)
  endif()
  translate_kernels(${name} ${arg_ROOT} translated ${arg_KERNELS})
  foreach(variant IN LISTS arg_VARIANTS)
    set(target ${name}_${variant})
    add_executable(${target} ${arg_SOURCES} ${translated})
    add_dependencies(${target} ${name}_translated)
    add_dependencies(kernel_tests ${target})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name} ${arg_ROOT})
    target_link_libraries(${target} PRIVATE executor_${variant} ${arg_LIBRARIES} lapsum_options
                                            GTest::gtest_main)
    set_target_properties(${target} PROPERTIES
      CROSSCOMPILING_EMULATOR "${EXECUTOR_RUNS_${variant}}")
    gtest_discover_tests(${target} TEST_PREFIX ${variant}. DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS kernels TIMEOUT 300 ENVIRONMENT OMP_NUM_THREADS=1)
  endforeach()
endfunction()
