# A layer is a target, a dependency is a link: each layer has one include root of its own, so that including a header
# of a layer that is not linked fails with "No such file" (STYLE section 3).
#
#   tactus_layer(<name> [PORTABLE] [APART] [DEPENDS <layer> ...] [SOURCES <file> ...] [ROOTS <include root> ...]
#     [PRECOMPILE <header>])
#
# PORTABLE layers build without exceptions, and on bare metal without RTTI; host libraries keep it, since a vtable
# without type information breaks users who ask for it (ADR 0007). ROOTS adds include roots beside include/ (the
# port's platform folder). APART: installed, but no part of the umbrella. PRECOMPILE: what nearly all of its sources
# include, which is most of what compiling them takes; see TACTUS_PRECOMPILE. With TACTUS_UNITY a dozen
# of these are compiled as one, so names in unnamed namespaces are unique within such a layer. Every call is also
# recorded, so that docs/ARCHITECTURE.md can be rendered from the build.
function(tactus_layer name)
  cmake_parse_arguments(arg "PORTABLE;APART" "PRECOMPILE" "DEPENDS;SOURCES;ROOTS" ${ARGN})
  set(target tactus_${name})
  set(roots)
  foreach(root IN ITEMS include ${arg_ROOTS})
    if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${root})
      list(APPEND roots ${CMAKE_CURRENT_SOURCE_DIR}/${root})
    endif()
  endforeach()
  set(headers)
  foreach(root IN LISTS roots)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${root}/*.hpp)
    list(APPEND headers ${found})
  endforeach()

  add_library(${target} STATIC ${arg_SOURCES})
  add_library(tactus::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${roots} FILES ${headers})
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_include_directories(${target} PRIVATE src)
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND tactus:: OUTPUT_VARIABLE links)
  target_link_libraries(${target} PUBLIC ${links} PRIVATE $<BUILD_INTERFACE:tactus_build_flags>)
  target_compile_features(${target} PUBLIC cxx_std_23)
  if(arg_PORTABLE)
    target_compile_options(${target} PRIVATE -fno-exceptions)
  endif()
  if(TARGET tactus_lto)
    target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
  endif()
  if(arg_PRECOMPILE)
    tactus_precompile(${target} ${arg_PRECOMPILE})
    if(TACTUS_UNITY)
      tactus_unite(${target} ${arg_SOURCES})
    endif()
  endif()
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX
    EXPORT_NAME ${name}
    VERIFY_INTERFACE_HEADER_SETS ON)

  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(GLOBAL APPEND PROPERTY TACTUS_LAYERS ${name})
  if(NOT arg_APART)
    set_property(GLOBAL APPEND PROPERTY TACTUS_UMBRELLA_LAYERS ${name})
  endif()
  set_property(GLOBAL PROPERTY TACTUS_LAYER_${name}_DEPENDS "${arg_DEPENDS}")
  set_property(GLOBAL PROPERTY TACTUS_LAYER_${name}_FOLDER "${folder}")
  set_property(GLOBAL PROPERTY TACTUS_LAYER_${name}_PORTABLE "${arg_PORTABLE}")
  if(TACTUS_PORT STREQUAL "host")
    install(TARGETS ${target} EXPORT tactus-targets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endfunction()

function(tactus_precompile target)
  if(TACTUS_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # for ccache
  endif()
endfunction()

# A source that names the module of its checks for the whole file is compiled alone: the name is not for others.
function(tactus_unite target)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} module REGEX "^TACTUS_CHECK_MODULE")
    if(module)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# Writes build/layers.txt: one line per layer, "name folder portable|hosted dependencies...". tools/layer_graph renders
# the graph in docs/ARCHITECTURE.md from it, and a test compares the two.
function(tactus_write_layers file)
  get_property(layers GLOBAL PROPERTY TACTUS_LAYERS)
  set(text "")
  foreach(name IN LISTS layers)
    get_property(depends GLOBAL PROPERTY TACTUS_LAYER_${name}_DEPENDS)
    get_property(folder GLOBAL PROPERTY TACTUS_LAYER_${name}_FOLDER)
    get_property(portable GLOBAL PROPERTY TACTUS_LAYER_${name}_PORTABLE)
    if(portable)
      set(kind portable)
    else()
      set(kind hosted)
    endif()
    string(JOIN " " line ${name} ${folder} ${kind} ${depends})
    string(APPEND text "${line}\n")
  endforeach()
  file(WRITE ${file} "${text}")
endfunction()
