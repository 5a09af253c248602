# Builds the library as a packager does, installs it, moves the installed tree, and looks for paths of this machine in
# it. The consumers then use the moved tree.
#
# usage: cmake -DSOURCE=... -DWORK=... -DCOMPILER=... -DLAUNCHER=... -P install.cmake
cmake_policy(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    string(JOIN " " line ${ARGN})
    message(FATAL_ERROR "${line}\n${out}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK}/staging ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DTACTUS_TESTS=OFF -DTACTUS_EXAMPLES=OFF
  # What is installed is looked at, not how fast it is.
  -DTACTUS_UNITY=ON "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG")
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/staging)
file(RENAME ${WORK}/staging ${WORK}/prefix)

file(GLOB_RECURSE installed RELATIVE ${WORK}/prefix ${WORK}/prefix/*)
if(NOT "include/tactus/tactus.hpp" IN_LIST installed)
  message(FATAL_ERROR "the umbrella header is not installed; there is: ${installed}")
endif()
# The tree was installed below the source folder, so that finds the prefix, too: it was moved, and must not be known.
execute_process(COMMAND grep -rlF -e ${SOURCE} -e ${WORK} ${WORK}/prefix OUTPUT_VARIABLE found RESULT_VARIABLE result)
if(NOT result EQUAL 1)
  message(FATAL_ERROR "installed files with a path of the build machine in them:\n${found}")
endif()
list(LENGTH installed count)
message(STATUS "${count} files installed, none with a path of this machine")
