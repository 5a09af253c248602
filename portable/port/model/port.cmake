# The checker's strands are Boost.Context fibers; its own code may therefore use exceptions, what it checks may not.
find_package(Boost REQUIRED COMPONENTS context)
target_link_libraries(tactus_port PRIVATE Boost::context)
target_compile_options(tactus_port PRIVATE -fexceptions)
