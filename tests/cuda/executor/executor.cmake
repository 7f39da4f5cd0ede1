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

# kernel_tests(<name> ROOT <folder> KERNELS <.cu files relative to it>... [SOURCES <.cpp files>...]
#              [LIBRARIES <targets>...] [VARIANTS <plain, address, thread>...])
# builds <name>_<variant> of GoogleTests for each variant, all by default. The kernels, and the
# headers next to them, have their __shared__ variables translated; ROOT is on the include path.
function(kernel_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ROOT" "KERNELS;SOURCES;LIBRARIES;VARIANTS")
  if(NOT arg_VARIANTS)
    set(arg_VARIANTS plain address thread)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(files ${arg_KERNELS})
  foreach(kernel IN LISTS arg_KERNELS)
    get_filename_component(beside ${arg_ROOT}/${kernel} DIRECTORY)
    file(GLOB headers RELATIVE ${arg_ROOT} CONFIGURE_DEPENDS ${beside}/*.h ${beside}/*.cuh)
    list(APPEND files ${headers})
  endforeach()
  list(REMOVE_DUPLICATES files)
  set(translated)
  foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.cu$" ".cu.cpp" result ${folder}/${file})
    get_filename_component(parent ${result} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    add_custom_command(OUTPUT ${result}
      COMMAND sed -zE -f ${EXECUTOR}/translate.sed -e "1s|^|#line 1 \"${arg_ROOT}/${file}\"\\n|"
              ${arg_ROOT}/${file} > ${result}
      DEPENDS ${arg_ROOT}/${file} ${EXECUTOR}/translate.sed VERBATIM)
    list(APPEND translated ${result})
  endforeach()
  add_custom_target(${name}_translated DEPENDS ${translated})
  foreach(variant IN LISTS arg_VARIANTS)
    set(target ${name}_${variant})
    add_executable(${target} ${arg_SOURCES} ${translated})
    add_dependencies(${target} ${name}_translated)
    add_dependencies(kernel_tests ${target})
    target_include_directories(${target} PRIVATE ${folder} ${arg_ROOT})
    target_link_libraries(${target} PRIVATE executor_${variant} ${arg_LIBRARIES} lapsum_options
                                            GTest::gtest_main)
    set_target_properties(${target} PROPERTIES
      CROSSCOMPILING_EMULATOR "${EXECUTOR_RUNS_${variant}}")
    gtest_discover_tests(${target} TEST_PREFIX ${variant}. DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS kernels TIMEOUT 300 ENVIRONMENT OMP_NUM_THREADS=1)
  endforeach()
endfunction()
