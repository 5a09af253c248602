# Flags for the project's own code only; users of the library never see them.
add_library(tactus_build_flags INTERFACE)
target_compile_options(tactus_build_flags INTERFACE
  -Wall -Wextra -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wundef
  # Compiled in one piece with others, a source may have a variable with the name of one in another file: that hides
  # nothing. All that is compiled alone is asked.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  $<$<BOOL:${TACTUS_WERROR}>:-Werror>)
# g++ 12 warns of overlapping copies in "text" + std::string(...) when it optimises, though there are none (bug 105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tactus_build_flags INTERFACE -Wno-restrict)
endif()
if(TACTUS_SANITIZE)
  target_compile_options(tactus_build_flags INTERFACE -fsanitize=${TACTUS_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TACTUS_SANITIZE})
endif()
if(TACTUS_LTO AND TACTUS_PORT STREQUAL "cortex_m")
  # For images that link it, which is what makes firmware small. Layers have their code beside what that needs, so that
  # the many images of tests link in no time.
  add_library(tactus_lto INTERFACE)
  target_compile_options(tactus_lto INTERFACE -flto=auto)
  target_link_options(tactus_lto INTERFACE -flto=auto)
elseif(TACTUS_LTO)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT tactus_has_lto OUTPUT tactus_lto_why LANGUAGES CXX)
  if(tactus_has_lto)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  else()
    message(WARNING "link-time optimisation asked for but not available: ${tactus_lto_why}")
  endif()
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING)
  find_program(tactus_ccache ccache)
  if(tactus_ccache AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${tactus_ccache})
  endif()
  if(EXISTS /usr/bin/ld.lld AND NOT TACTUS_LTO)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
